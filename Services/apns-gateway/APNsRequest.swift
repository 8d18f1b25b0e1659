import Contracts

/// Which connections a push may go over: one provider token, one host.
///
/// Apple allows one team for a connection and advises against several keys on one.
struct LaneKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The team, 10 characters.
    var teamID: String
    /// The key, 10 characters.
    var keyID: String
    /// Whose hosts.
    var environment: APNsEnvironment
    /// Which of them.
    var host = Host.pushes

    /// The hosts of an environment.
    enum Host: String, Sendable {
        /// Pushes to devices and channels.
        case pushes = "pushes"
        /// The management of channels.
        case channels = "channels"
    }

    /// One word for a log.
    var description: String {
        "\(teamID).\(keyID).\(environment.rawValue)" + (host == .pushes ? "" : ".\(host.rawValue)")
    }

    /// Orders by team, key and environment.
    static func < (left: LaneKey, right: LaneKey) -> Bool {
        (left.teamID, left.keyID, left.environment, left.host.rawValue)
            < (right.teamID, right.keyID, right.environment, right.host.rawValue)
    }
}

/// What the requests of one group of pushes share; a reference, so that a request copies none of it.
final class RequestGroup: Sendable, Equatable {
    /// The application's code.
    let application: String
    /// Over which connections.
    let lane: LaneKey
    /// `apns-topic`.
    let topic: String
    /// `apns-push-type`.
    let pushType: PushType
    /// `apns-priority`.
    let priority: Int
    /// `apns-expiration`, seconds since 1970; 0 is one attempt.
    let expirationSeconds: Int64
    /// What path and headers they have.
    let form: Form

    /// The kinds of requests that APNs takes.
    enum Form: Equatable, Sendable {
        /// A push to a device.
        case device
        /// A push to a channel of an app, which its bundle id names.
        case broadcast(bundleID: String)
        /// A call about an app's channels.
        case channelCall(_ method: String, path: String)
    }

    /// Joins the parts.
    init(
        application: String, lane: LaneKey, topic: String, pushType: PushType, priority: Int,
        expirationSeconds: Int64, form: Form = .device
    ) {
        self.application = application
        self.lane = lane
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.form = form
    }

    /// What the registry may hold back.
    var pause: Pause { Pause(application: application, environment: lane.environment) }

    /// Compares the values.
    static func == (left: RequestGroup, right: RequestGroup) -> Bool {
        left === right
            || (left.application == right.application && left.lane == right.lane && left.topic == right.topic
                && left.pushType == right.pushType && left.priority == right.priority
                && left.expirationSeconds == right.expirationSeconds && left.form == right.form)
    }
}

/// Names one request of this life of the gateway.
struct RequestID: Hashable, Sendable {
    /// The delivery.
    var push: PushID
    /// Which request of this life it is, from 1; a delivery may have several, one after the other.
    var number: Int

    /// Stands for the newest request of a delivery.
    static let newest = 0
}

/// One push as it goes to APNs.
struct APNsRequest: Equatable, Sendable {
    /// Its name; comes back in the one event that ends it.
    var id: RequestID
    /// What it shares with others.
    var group: RequestGroup
    /// The last part of `:path`, lower-case hex; for a channel its id.
    var token: String
    /// `apns-id`, a lower-case UUID.
    var apnsID: String
    /// `apns-collapse-id`.
    var collapseID: String?
    /// The JSON body.
    var body: [UInt8]
    /// When it is given back if it has not gone, on the monotonic clock.
    var sendBeforeMilliseconds: Int64
    /// How long APNs may take to answer.
    var answerWithinMilliseconds: Int64
    /// Whether it goes although its application is paused.
    var trial: Bool
}

/// What the core asks of the connections.
enum APNsOrder: Equatable, Sendable {
    /// Send this; exactly one event with its name follows.
    case request(APNsRequest)
    /// Give back, as unsent, whatever of these has not been written, but for trials; replaces the former list.
    case hold([Pause])
}

/// What APNs said to one request.
struct APNsAnswer: Equatable, Sendable {
    /// The HTTP status.
    var status: Int
    /// The body's `reason`.
    var reason: String?
    /// The body's `timestamp`, of a 410, milliseconds since 1970.
    var timestampMilliseconds: Int64?
    /// `retry-after`, in seconds.
    var retryAfterSeconds: Int64?
    /// `apns-channel-id`, of a channel that was made.
    var channelID: String?
    /// The body of an answer that is no refusal.
    var content: [UInt8] = []
}

/// Why a request was not sent.
enum UnsentReason: String, Equatable, Sendable {
    /// Its time to be sent passed.
    case late = "not-sent"
    /// Its application is paused.
    case paused = "paused"
}

/// What the connections tell the core.
enum APNsEvent: Equatable, Sendable {
    /// APNs answered; `sentAtMilliseconds` is on the monotonic clock.
    case answered(RequestID, APNsAnswer, sentAtMilliseconds: Int64)
    /// It was written, and no answer came or will come.
    case unanswered(RequestID, sentAtMilliseconds: Int64)
    /// APNs surely has not processed it.
    case unsent(RequestID, UnsentReason)

    /// The request that ends.
    var id: RequestID {
        switch self {
        case .answered(let id, _, _), .unanswered(let id, _), .unsent(let id, _): id
        }
    }
}
