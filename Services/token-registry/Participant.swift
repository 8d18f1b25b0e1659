import Contracts

typealias Participant = Record<ParticipantFields>

/// One device in one run.
struct ParticipantFields: Equatable {
    let number: Int64
    let run: Int64
    let device: Int64
    var state: ParticipantState
    /// Its update token.
    var place = TokenPlace()
    /// What was last sent to it.
    var pace = Pace()
    /// The message whose row waits for it.
    var waiting: Int64?
    /// The message whose row is handed over.
    var handed: Int64?
    /// The message of the newest state that was meant for it.
    var newest: Int64?
    /// The message that ends it: nothing follows.
    var end: Int64?
    /// When something was last sent to it, milliseconds since 1970.
    var sentAt: Int64?
    var outcome: String?
    var reason: String?
    /// In a run that is bound to a channel: whether it listens, or is served by its token; nil in all others.
    var listens: Bool?
}

/// Where a participant stands.
enum ParticipantState: Int64 {
    case starting = 0
    case active = 1
    case ended = 2
}

/// Where a token stands: a device and type, or a device and run.
///
/// It remembers the sequence of what was last registered there, also when that was empty.
struct TokenPlace: Equatable {
    /// Lower-case hex; nil while there is none.
    var token: String?
    var state = TokenState.live
    /// The journal's sequence of the registration.
    var sequence: Int64 = 0
    /// When the app says it got the token, seconds since 1970.
    var clientSeconds: Int64?
    /// When the door accepted it, milliseconds since 1970.
    var acceptedAt: Int64 = 0
    /// When the first one was accepted, milliseconds since 1970; 0 before that.
    var firstAt: Int64 = 0
    /// When APNs learned that the token is dead, milliseconds since 1970; 0 for one that is not.
    var diedAt: Int64 = 0

    /// The token, if pushes may go to it.
    var usable: String? { state == .live ? token : nil }

    /// When the token was registered, milliseconds since 1970.
    ///
    /// The app's whole second counts to its end, but no token was got after the door had it.
    var registeredAt: Int64 { min(clientSeconds.map { $0 * 1000 + 999 } ?? acceptedAt, acceptedAt) }

    /// Why pushes may not go to the token.
    var cause: String { state.cause ?? Cause.noToken }

    /// Why the participant that held it has ended.
    var causeOfEnd: String { state.cause ?? Cause.ended }

    /// Whether a registration is news for this place.
    ///
    /// Of two that say when the app got the token, the later one counts, and of equal ones the last. One that does not
    /// say so was made when the door accepted it: what names an earlier time changes nothing, a whole second again
    /// counting to its end. So an app names the time always or never; where both are mixed, the clock of a phone that
    /// lags behind makes a new token look older than the one before.
    func accepts(sequence: Int64, clientSeconds: Int64?) -> Bool {
        guard sequence > self.sequence else { return false }
        guard let clientSeconds else { return true }
        guard let known = self.clientSeconds else { return clientSeconds * 1000 + 999 >= acceptedAt }
        return clientSeconds >= known
    }

    /// When a token died that is the one here, milliseconds since 1970; nil if it is another one, or not dead.
    func death(of token: String) -> Int64? { self.token == token && state == .dead ? diedAt : nil }

    /// Marks the token as dead.
    mutating func die(at diedAt: Int64) {
        state = .dead
        self.diedAt = max(self.diedAt, diedAt)
    }

    /// Lets a token that was refused be used again.
    mutating func revive() {
        state = .live
        diedAt = 0
    }
}

/// What is known of a token.
enum TokenState: Int64 {
    case live = 0
    /// Refused once among successes; not used until it is registered again.
    case aside = 1
    /// APNs called it dead.
    case dead = 2

    /// Why pushes may not go to a token; nil if they may.
    var cause: String? {
        switch self {
        case .live: nil
        case .aside: Cause.tokenSetAside
        case .dead: Cause.tokenDied
        }
    }
}
