import Contracts
import JSON
import Service

/// An activity as a caller names it; only the run says which life of it is meant.
struct ActivityName: Hashable, Sendable {
    /// The application's code.
    var application: String
    /// Which kind of name it is; the same text may stand in each.
    var space: Space
    /// The `live_activity_id`, or the token.
    var name: String

    /// What activities are named by.
    enum Space: Int64, Sendable {
        /// A `live_activity_id`.
        case id = 0
        /// The update token of an activity without an id.
        case token = 1
        /// The push-to-start token of a start at the Firebase door.
        case startToken = 2
        /// A broadcast channel that no running activity with an id is bound to.
        case channel = 3
    }
}

/// A start, update or end that has been read and checked, as far as that goes without the store.
struct Draft {
    var activity: ActivityName
    /// Whom a caller means.
    var target: Target
    var notification: Notification
    var payload: Payload
    /// The SHA-256 of what the caller sent, by which a start that comes again is known; empty for all else.
    var digest: [UInt8]
    /// The broadcast channel that the push binds its run to.
    var channel: String?
    /// The members to name when the store says no.
    var fields: Fields

    /// Whom a caller means, before filters are looked up.
    enum Target: Equatable {
        case audience(Audience)
        case filterName(String)
        case filterCode(String)
    }

    /// Members to name in errors.
    struct Fields {
        /// What names the activity.
        var activity: FieldName
        /// What names the audience.
        var target = FieldName.text("")
        /// The `content-state`.
        var state = FieldName.text("")
        /// What names the channel.
        var channel = FieldName.text("")
    }
}

extension Draft {
    /// Gives a start the alert it needs: one made of title and body if the caller sent none.
    ///
    /// A start without an alert is not shown (Apple says that it is required).
    mutating func completeAlert(title: String?, body: String?, field: FieldName) throws(Refusal) {
        guard notification.event == .start, payload.alert.isEmpty else { return }
        guard title != nil || body != nil else {
            throw Refusal(
                field.text, "missing; a start needs an alert, or a title or content to make it of",
                label: "alert")
        }
        payload.alert = DefaultAlert.bytes(title: title, body: body)
    }

    /// Refuses what APNs would refuse for its size.
    func checkSize(_ object: ObjectReader, bytesMax: Int = PayloadSize.bytesMax) throws(Refusal) {
        let size = PayloadSize.of(notification, payload)
        guard size <= bytesMax else {
            throw Refusal(
                ObjectReader.name(object.value.path),
                "the APNs body would have \(size) bytes, more than \(bytesMax)",
                label: "size")
        }
    }

    /// When the push stops being worth sending, if its caller does not say so.
    static func expirationSeconds(_ push: CheckedPush, _ delivery: DeliverySettings, nowSeconds: Int64)
        -> Int64
    {
        switch push.event {
        case .start: return nowSeconds + delivery.startExpirationSeconds
        case .end: return nowSeconds + delivery.endExpirationSeconds
        case .update:
            let usual = nowSeconds + delivery.updateExpirationSeconds
            guard let stale = push.members.value["stale-date"]?.int64, stale > nowSeconds else {
                return usual
            }
            return min(usual, stale)
        }
    }
}
