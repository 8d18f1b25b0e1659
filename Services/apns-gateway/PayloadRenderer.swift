import Contracts
import JSON

/// Writes the bodies of the pushes that share one notification.
///
/// Everything but the `timestamp` is written once; the raw members go in as the bytes that came to the door. Order and
/// meaning of the keys: Apple, Starting and updating Live Activities with ActivityKit push notifications.
struct PayloadRenderer {
    private static let head = Array(#"{"aps":{"timestamp":"#.utf8)

    private let tail: [UInt8]
    private let alert: [UInt8]?
    private var last: (timestampSeconds: Int64, body: [UInt8])?

    /// Writes what does not change from push to push.
    init(_ notification: Notification, _ payload: Payload) {
        tail = Self.tail(notification, payload)
        alert = notification.fallback.map(Self.alert)
    }

    /// The body for one push.
    ///
    /// - Parameters:
    ///   - pushType: a Live Activity push, or the ordinary alert in its place.
    ///   - timestampSeconds: `timestamp` on the wire, since 1970; an alert has none.
    /// - Returns: nil for an alert where the notification has no fallback.
    mutating func body(_ pushType: PushType, timestampSeconds: Int64) -> [UInt8]? {
        guard pushType == .liveActivity else { return alert }
        if let last, last.timestampSeconds == timestampSeconds { return last.body }
        var body: [UInt8] = []
        body.reserveCapacity(Self.head.count + 20 + tail.count)
        body += Self.head
        body += String(timestampSeconds).utf8
        body += tail
        last = (timestampSeconds, body)
        return body
    }

    private static func tail(_ notification: Notification, _ payload: Payload) -> [UInt8] {
        let isStart = notification.event == .start
        var text = MemberText()
        text.string("event", notification.event.rawValue)
        text.raw("content-state", payload.contentState)
        if isStart {
            text.string("attributes-type", notification.attributesType)
            text.raw("attributes", payload.attributes)
        }
        text.raw("alert", payload.alert)
        text.number("stale-date", notification.staleDateSeconds)
        if notification.event == .end { text.number("dismissal-date", notification.dismissalDateSeconds) }
        text.raw("relevance-score", Array((notification.relevanceScore ?? "").utf8))
        if isStart {
            text.raw("input-push-token", Array((notification.inputPushToken ?? "").utf8))
            text.string("input-push-channel", notification.inputPushChannel)
        }
        return text.bytes + Array("}}".utf8)
    }

    private static func alert(_ fallback: Notification.Fallback) -> [UInt8] {
        JSONWriter.object { body in
            body.object("aps") { aps in
                aps.object("alert") { alert in
                    if let title = fallback.title { alert.member("title", title) }
                    alert.member("body", fallback.body)
                }
            }
        }
    }
}

/// Members that follow another one in an object; absent values are left out.
private struct MemberText {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ name: String, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        self.name(name)
        bytes += value
    }

    mutating func string(_ name: String, _ value: String?) {
        guard let value else { return }
        self.name(name)
        JSONText.appendQuoted(value, to: &bytes)
    }

    mutating func number(_ name: String, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        bytes += String(value).utf8
    }

    private mutating func name(_ name: String) {
        bytes += #","\#(name)":"#.utf8
    }
}
