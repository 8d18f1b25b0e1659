import Contracts
import Crypto
import JSON
import Service

/// Reads the `notifications` of `startLiveActivity` and `updateLiveActivity`.
///
/// Pushwoosh, Live Activities API. Members that neither document nor an older revision of it has are refused.
struct PushwooshNotifications {
    /// The most notifications of one call.
    static let countMax = 1_000
    /// The most devices or users of one notification, as documented.
    static let listCountMax = 1_000

    let application: Configuration.Application
    let starts: Bool
    let nowSeconds: Int64

    /// Reads them all; one bad one refuses the call.
    func read(_ request: PushwooshRequest) throws(Refusal) -> [Draft] {
        let value = try request.members.required("notifications")
        guard let elements = value.elements else { throw ObjectReader.wrong(value, "must be an array") }
        let count = elements.count
        guard (1...PushwooshNotifications.countMax).contains(count) else {
            throw ObjectReader.wrong(
                value, "must have 1 to \(PushwooshNotifications.countMax) elements", label: "notifications")
        }
        var drafts: [Draft] = []
        for element in elements {
            drafts += try self.drafts(element)
            guard drafts.count <= PushwooshNotifications.countMax else {
                throw ObjectReader.wrong(
                    value, "must be for at most \(PushwooshNotifications.countMax) activities and tokens",
                    label: "notifications")
            }
        }
        return drafts
    }

    /// One draft, or one for each token where an update names tokens, as an older revision of the document had it.
    private func drafts(_ element: JSONValue) throws(Refusal) -> [Draft] {
        let notification = try ObjectReader(element)
        try refuseUnknown(notification)
        if !starts, let value = notification.value[PushwooshNotifications.channel] {
            return [try channelDraft(notification, try channelID(value))]
        }
        guard !starts, let value = notification.value[PushwooshNotifications.tokens] else {
            let activity = try notification.requiredText("live_activity_id")
            return [try draft(notification, activity)]
        }
        if notification.value["live_activity_id"] != nil {
            _ = try notification.requiredText("live_activity_id")
        }
        let general = try draft(notification, "")
        return try tokens(value).map { token in
            var draft = general
            draft.activity = ActivityName(application: application.code, space: .token, name: token)
            draft.target = .audience(.token(token))
            draft.fields.activity = .member(notification, PushwooshNotifications.tokens)
            return draft
        }
    }

    private static let tokens = "live_activity_push_tokens"
    private static let channel = "channel"

    /// An update or end for whoever listens to a channel.
    private func channelDraft(_ notification: ObjectReader, _ id: String) throws(Refusal) -> Draft {
        for other in ["live_activity_id", PushwooshNotifications.tokens]
        where notification.value[other] != nil {
            throw notification.wrong(
                other, "only one of channel and \(other)", label: "target")
        }
        var draft = try draft(notification, "", bytesMax: PayloadSize.broadcastBytesMax)
        draft.activity = ActivityName(application: application.code, space: .channel, name: id)
        draft.channel = id
        draft.fields.activity = .member(notification, PushwooshNotifications.channel)
        return draft
    }

    private func channelID(_ value: JSONValue) throws(Refusal) -> String {
        guard let id = value.string, Channel.isID(id) else {
            throw ObjectReader.wrong(value, "must be a channel's id, in base64", label: "channel")
        }
        return id
    }

    /// Binds a start to a channel, which Apple's own member may name too.
    private func bind(_ draft: inout Draft, _ notification: ObjectReader, _ push: CheckedPush) throws(Refusal)
    {
        let member = push.members.value["input-push-channel"]
        guard let value = notification.value[PushwooshNotifications.channel] ?? member else { return }
        let id = try channelID(value)
        if let member, member.string != id {
            throw push.members.wrong(
                "input-push-channel", "is another channel than channel", label: "channel")
        }
        draft.channel = id
        draft.fields.channel = .text(ObjectReader.name(value.path))
        draft.notification.inputPushChannel = id
        // Whoever listens needs no token, unless the caller asks for one.
        if push.members.value["input-push-token"] == nil { draft.notification.inputPushToken = nil }
    }

    private func tokens(_ value: JSONValue) throws(Refusal) -> [String] {
        guard let elements = value.elements else { throw ObjectReader.wrong(value, "must be an array") }
        guard (1...PushwooshNotifications.listCountMax).contains(elements.count) else {
            throw ObjectReader.wrong(
                value, "must have 1 to \(PushwooshNotifications.listCountMax) elements", label: "target")
        }
        var tokens: [String] = []
        var seen: Set<String> = []
        for element in elements {
            let token = try DeviceToken.read(element)
            if seen.insert(token).inserted { tokens.append(token) }
        }
        return tokens
    }

    /// The `live_activity`, which an older revision of the document calls `ios_live_activity`.
    private func liveActivity(_ notification: ObjectReader) throws(Refusal) -> JSONValue {
        guard let older = notification.value["ios_live_activity"] else {
            return try notification.required("live_activity")
        }
        guard notification.value["live_activity"] == nil else {
            throw notification.wrong(
                "ios_live_activity", "only one of live_activity and ios_live_activity", label: "repeated")
        }
        return older
    }

    private func draft(
        _ notification: ObjectReader, _ activity: String, bytesMax: Int = PayloadSize.bytesMax
    ) throws(Refusal) -> Draft {
        let members = try ObjectReader(try liveActivity(notification))
        let push = try CheckedPush(
            members, starts ? .pushwooshStart : .pushwooshUpdate, nowSeconds: nowSeconds)
        let subtitle = try members.optionalString("title")
        var draft = Draft(
            activity: ActivityName(application: application.code, space: .id, name: activity),
            target: .audience(.activity),
            notification: push.notification(
                priority: 10,
                expirationSeconds: Draft.expirationSeconds(push, application.delivery, nowSeconds: nowSeconds)
            ),
            payload: push.payload, digest: starts ? SHA256.digest(notification.value.bytes) : [],
            fields: Draft.Fields(
                activity: .member(notification, "live_activity_id"), state: .member(members, "content-state"))
        )
        if starts {
            try bind(&draft, notification, push)
            try completeStart(&draft, notification, push, subtitle: subtitle)
        }
        try draft.checkSize(members, bytesMax: bytesMax)
        return draft
    }

    private func refuseUnknown(_ notification: ObjectReader) throws(Refusal) {
        try notification.refuseUnknown(
            known: starts ? PushwooshNotifications.startMembers : PushwooshNotifications.changeMembers)
    }

    private static let changeMembers: Set = [
        "live_activity", "ios_live_activity", "live_activity_id", tokens, channel,
    ]
    private static let startMembers: Set = [
        "live_activity", "ios_live_activity", "live_activity_id", "filter", "filter_code", "devices", "users",
        "content", "title", channel,
    ]

    private func completeStart(
        _ draft: inout Draft, _ notification: ObjectReader, _ push: CheckedPush, subtitle: String?
    ) throws(Refusal) {
        let content = try notification.optionalString("content")
        let title = try notification.optionalString("title")
        (draft.target, draft.fields.target) = try target(notification)
        if application.pushwooshAttributes, let attributes = push.members.value["attributes"] {
            draft.payload.attributes = try PushwooshAttributes.bytes(
                attributes, activity: draft.activity.name)
        }
        try draft.completeAlert(
            title: title ?? subtitle, body: content, field: .member(notification, "content"))
        guard let content else { return }
        let fallback = Notification.Fallback(title: title ?? subtitle, body: content)
        guard PayloadSize.of(fallback) <= PayloadSize.bytesMax else {
            throw notification.wrong(
                "content",
                "as an alert it would have \(PayloadSize.of(fallback)) bytes, more than "
                    + "\(PayloadSize.bytesMax)", label: "size")
        }
        draft.notification.fallback = fallback
    }

    /// Whom a start is for: one of filter, filter_code, devices and users.
    ///
    /// `users` beside `devices` is documented: the devices are ignored then. Any other pair is refused, and so is a
    /// start for nobody in particular, which must never become one for everybody.
    private func target(_ notification: ObjectReader) throws(Refusal) -> (Draft.Target, FieldName) {
        var given = ["filter", "filter_code", "devices", "users"].filter { notification.value[$0] != nil }
        if given.contains("users") {
            if let devices = notification.value["devices"] { _ = try list(devices, optional: true) }
            given.removeAll { $0 == "devices" }
        }
        guard let member = given.first else {
            throw notification.wrong(
                "filter", "missing; one of filter, filter_code, devices and users is needed", label: "target")
        }
        guard given.count == 1 else {
            throw Refusal(
                .argument,
                given.map {
                    Refusal.Violation(
                        field: notification.name(of: $0),
                        problem: "only one of \(given.joined(separator: ", "))")
                }, label: "target")
        }
        let value = try notification.required(member)
        let target: Draft.Target =
            switch member {
            case "filter": .filterName(try Texts.text(value))
            case "filter_code": .filterCode(try Texts.text(value))
            case "devices": .audience(.devices(try list(value)))
            default: .audience(.users(try list(value)))
            }
        return (target, .member(notification, member))
    }

    private func list(_ value: JSONValue, optional: Bool = false) throws(Refusal) -> [String] {
        let name = ObjectReader.name(value.path)
        guard let elements = value.elements else { throw Refusal(name, "must be an array", label: "type") }
        let count = elements.count
        guard (optional ? 0... : 1...).contains(count), count <= PushwooshNotifications.listCountMax else {
            throw Refusal(
                name, "must have 1 to \(PushwooshNotifications.listCountMax) elements", label: "target")
        }
        var texts: [String] = []
        texts.reserveCapacity(count)
        for element in elements { texts.append(try Texts.text(element)) }
        return texts
    }
}
