/// Says that a store has committed something.
///
/// From: token-registry or segmenter. To: ingest (kept until `noted`); a batch's to the segmenter that sent it.
public enum Taken: Codable, Sendable, Hashable {
    /// Every batch of one pass of a message.
    case command(message: Int64)
    /// One batch.
    case batch(message: Int64, pass: Pass, index: Int)
    /// A registration, by one of its receivers.
    case registration(sequence: Int64, by: ServiceName)
}

/// Says that a batch does not fit: the pass is over, and the command is released again later.
///
/// From: token-registry to the segmenter that sent the batch, and from it to ingest.
public struct Busy: Codable, Sendable, Hashable {
    /// The message.
    public var message: Int64
    /// The pass that is over; nil between segmenter and ingest.
    public var pass: Pass?
    /// The batch.
    public var index: Int?

    /// Joins the parts.
    public init(message: Int64, pass: Pass? = nil, index: Int? = nil) {
        self.message = message
        self.pass = pass
        self.index = index
    }
}

/// Says that every delivery of a message has an outcome.
///
/// From: token-registry. To: ingest, which keeps the highest revision. Kept until `noted`.
public struct Settled: Codable, Sendable, Equatable {
    /// The message.
    public var message: Int64
    /// Grows when a settled message is opened again by a token that came late.
    public var revision: Int64
    /// How many deliveries ended in each way.
    public var counts: OutcomeCounts
    /// When the last one ended, milliseconds since 1970.
    public var settledAtMilliseconds: Int64

    /// Joins the parts.
    public init(message: Int64, revision: Int64, counts: OutcomeCounts, settledAtMilliseconds: Int64) {
        self.message = message
        self.revision = revision
        self.counts = counts
        self.settledAtMilliseconds = settledAtMilliseconds
    }
}

/// The ways a delivery may end.
public enum Outcome: String, Codable, Sendable, CaseIterable {
    /// APNs answered 200, which is no proof that the phone shows it.
    case delivered = "delivered"
    /// A newer state went instead.
    case superseded = "superseded"
    /// Its expiration passed.
    case expired = "expired"
    /// APNs refused it.
    case failed = "failed"
    /// There was no token.
    case unreachable = "unreachable"
    /// It was taken back before it went.
    case cancelled = "cancelled"
}

/// How many deliveries ended in each way.
public struct OutcomeCounts: Codable, Sendable, Equatable {
    /// APNs answered 200.
    public var delivered = 0
    /// A newer state went instead.
    public var superseded = 0
    /// The expiration passed.
    public var expired = 0
    /// APNs refused.
    public var failed = 0
    /// There was no token.
    public var unreachable = 0
    /// Taken back before it went.
    public var cancelled = 0

    /// None of each.
    public init() {}

    /// The count of one outcome.
    public subscript(outcome: Outcome) -> Int {
        get {
            switch outcome {
            case .delivered: delivered
            case .superseded: superseded
            case .expired: expired
            case .failed: failed
            case .unreachable: unreachable
            case .cancelled: cancelled
            }
        }
        set {
            switch outcome {
            case .delivered: delivered = newValue
            case .superseded: superseded = newValue
            case .expired: expired = newValue
            case .failed: failed = newValue
            case .unreachable: unreachable = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }

    /// All together.
    public var total: Int { delivered + superseded + expired + failed + unreachable + cancelled }
}

/// Tells the door what it must know to refuse.
///
/// Of those about one token or run the highest number holds.
///
/// From: token-registry. To: ingest. Kept until `noted`.
public struct Fact: Codable, Sendable, Equatable {
    /// Counts the registry's facts.
    public var number: Int64
    /// The application's code.
    public var application: String
    /// What is told.
    public var kind: Kind
    /// The token that it is about.
    public var token: String?
    /// The run that it is about.
    public var run: Int64?
    /// The journal's sequence of the registration that the fact rests on: an older one than the door has accepted
    /// since is ignored.
    public var registrationSequence: Int64

    /// What a fact may tell.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// APNs called the token dead.
        case tokenDied = "token-died"
        /// The participant that held the token has ended.
        case participantEnded = "participant-ended"
        /// The token was registered again.
        case tokenLives = "token-lives"
        /// The run's start is complete and no participant is left.
        case runEmpty = "run-empty"
    }

    /// Joins what every fact has.
    public init(number: Int64, application: String, kind: Kind, registrationSequence: Int64) {
        self.number = number
        self.application = application
        self.kind = kind
        self.registrationSequence = registrationSequence
    }
}

/// Says that the receiver has committed what the sender keeps.
public struct Noted: Codable, Sendable, Equatable {
    /// What need not be kept any more.
    public var keys: [CustodyKey]

    /// Joins the keys.
    public init(_ keys: [CustodyKey]) {
        self.keys = keys
    }
}
