import Contracts
import JSON

/// The size of the body that the gateway will send to APNs, worked out without making it.
///
/// It is exact for a body without white space between its members, whose `timestamp` has ten digits, and whose
/// strings are written as `JSONText.quote` writes them.
enum PayloadSize {
    /// The largest body APNs takes for a device push, in bytes (Apple, Generating a remote notification).
    static let bytesMax = 4_096
    /// The largest body of a broadcast, in bytes (Apple, Sending broadcast push notification requests to APNs).
    static let broadcastBytesMax = 5_120

    /// The bytes of a Live Activity push.
    static func of(_ notification: Notification, _ payload: Payload) -> Int {
        var members: [(name: String, size: Int)] = [
            ("timestamp", 10), ("event", notification.event.rawValue.utf8.count + 2),
        ]
        func add(_ name: String, _ size: Int?) {
            if let size, size > 0 { members.append((name, size)) }
        }
        add("content-state", payload.contentState.count)
        add("attributes-type", notification.attributesType.map(quoted))
        add("attributes", payload.attributes.count)
        add("alert", payload.alert.count)
        add("stale-date", notification.staleDateSeconds.map(digits))
        // Updates may carry one at the Pushwoosh door, but it goes out with an end only.
        if notification.event == .end { add("dismissal-date", notification.dismissalDateSeconds.map(digits)) }
        add("relevance-score", notification.relevanceScore?.utf8.count)
        add("input-push-token", notification.inputPushToken?.utf8.count)
        add("input-push-channel", notification.inputPushChannel.map(quoted))
        return aps(members)
    }

    /// The bytes of the ordinary alert that a phone gets which cannot be started.
    static func of(_ fallback: Notification.Fallback) -> Int {
        var members: [(name: String, size: Int)] = [("body", quoted(fallback.body))]
        if let title = fallback.title { members.append(("title", quoted(title))) }
        return aps([("alert", object(members))])
    }

    private static func aps(_ members: [(name: String, size: Int)]) -> Int {
        object([("aps", object(members))])
    }

    private static func object(_ members: [(name: String, size: Int)]) -> Int {
        // Braces and commas; quotes and colon of each name.
        2 + max(0, members.count - 1) + members.reduce(0) { $0 + $1.name.utf8.count + 3 + $1.size }
    }

    private static func quoted(_ text: String) -> Int { JSONText.quote(text).utf8.count }

    private static func digits(_ number: Int64) -> Int { String(number).utf8.count }
}
