import Contracts

typealias Delivery = Record<DeliveryFields>

/// The ledger's row of (message, device): open until it has an outcome.
struct DeliveryFields: Equatable {
    /// Message and device.
    let id: PushID
    /// Whose pace it shares; 0 for an alert and for a row that never had a participant.
    var participant: Int64
    var state = DeliveryState.waiting
    /// The queue it waits in, `Place.handedOver`, or nil if it waits for something else than time.
    var place: Int64?
    /// When its place is to be looked at, milliseconds since 1970.
    var at: Int64 = 0
    /// How often it has been handed over.
    var attempt = 0
    /// The highest priority of the states merged.
    var priority: Int
    /// The message whose alert it carries.
    var alert: Int64?
    /// The earliest instant for other reasons than the pace, milliseconds since 1970; it binds what replaces the row.
    var notBefore: Int64 = 0
    /// Until when trouble that this push has met at APNs is waited out, milliseconds since 1970; what replaces the row
    /// need not wait so long.
    var retryAt: Int64 = 0
    /// When an unsent push is given back, milliseconds since 1970.
    var sendBefore: Int64 = 0
    /// The number of the limiter that has it, or had it.
    var limiter = 0
    /// The journal's sequence of the registration of the token that it was handed over with; 0 for a start or an alert.
    var tokenSequence: Int64 = 0
    /// The `timestamp` of the last attempt, seconds since 1970.
    var wireSeconds: Int64?
    /// When the last attempt was written to APNs, milliseconds since 1970; 0 before the first.
    var sentAt: Int64 = 0
    /// Whether an attempt may have reached the phone although no answer said so.
    var isUnsure = false
    var isTrial = false
    /// APNs' reason of the last answer, or the cause of the outcome.
    var reason: String?
    /// When its state changed last, milliseconds since 1970.
    var changedAt: Int64

    /// The earliest instant of its next attempt, the pace aside.
    var earliest: Int64 { max(notBefore, retryAt) }
    /// Whether a limiter or gateway has it.
    var isOut: Bool { place == Place.handedOver }
    /// Whether it has no outcome yet.
    var isOpen: Bool { state.outcome == nil }
}

/// Where a delivery stands.
enum DeliveryState: Int64 {
    /// Waits for a token.
    case held = 0
    case waiting = 1
    case handedOver = 2
    case delivered = 10
    case superseded = 11
    case expired = 12
    case failed = 13
    case unreachable = 14
    case cancelled = 15

    /// The state of a delivery that has ended.
    init(_ outcome: Outcome) {
        switch outcome {
        case .delivered: self = .delivered
        case .superseded: self = .superseded
        case .expired: self = .expired
        case .failed: self = .failed
        case .unreachable: self = .unreachable
        case .cancelled: self = .cancelled
        }
    }

    /// How it ended; nil while it is open.
    var outcome: Outcome? {
        switch self {
        case .held, .waiting, .handedOver: nil
        case .delivered: .delivered
        case .superseded: .superseded
        case .expired: .expired
        case .failed: .failed
        case .unreachable: .unreachable
        case .cancelled: .cancelled
        }
    }

    /// The word an operator sees.
    var word: String {
        switch self {
        case .held, .waiting: "waiting"
        case .handedOver: "handed-over"
        default: outcome?.rawValue ?? ""
        }
    }
}

/// The queues that deliveries wait in, each named by one integer: the single recipients of an application, or the
/// rows of one fan-out, in one environment.
enum Place: Hashable {
    case single(application: Int64, APNsEnvironment)
    case fanOut(message: Int64, APNsEnvironment)

    /// Not a queue: the row is at a limiter or gateway.
    static let handedOver: Int64 = 0

    /// Whether the integer stands for the queue of a fan-out.
    static func isFanOut(_ number: Int64) -> Bool { number > 1 }

    /// Reads the integer; nil for `handedOver`.
    init?(_ number: Int64) {
        let environment: APNsEnvironment = number & 1 == 0 ? .production : .sandbox
        switch number {
        case 2...: self = .fanOut(message: number >> 1, environment)
        case ...(-1): self = .single(application: -(number >> 1), environment)
        default: return nil
        }
    }

    /// The integer: below 0 for single recipients, above 1 for a fan-out.
    var number: Int64 {
        switch self {
        case .single(let application, let environment): -application << 1 | Place.bit(environment)
        case .fanOut(let message, let environment): message << 1 | Place.bit(environment)
        }
    }

    private static func bit(_ environment: APNsEnvironment) -> Int64 { environment == .production ? 0 : 1 }
}
