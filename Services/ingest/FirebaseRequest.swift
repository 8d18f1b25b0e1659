import Contracts
import Crypto
import JSON
import Service

/// A `messages:send` call, read and checked as far as that goes without the store.
///
/// Firebase, FCM HTTP v1 API. Names may be written in snake_case or lowerCamelCase (the Proto-JSON rules), but not both
/// at once.
struct FirebaseRequest {
    /// Whether the caller only asks if it would be accepted.
    let validateOnly: Bool
    /// What would be accepted.
    let draft: Draft

    init(_ body: [UInt8], _ application: Configuration.Application, nowSeconds: Int64) throws(Refusal) {
        let document: JSONDocument
        do {
            document = try JSONDocument(body)
        } catch {
            throw Refusal(json: error)
        }
        let root = try ObjectReader(document.root)
        try root.refuseUnknown(known: ["validate_only", "validateOnly", "message"])
        validateOnly = try FirebaseRequest.validateOnly(root)
        let reader = FirebaseMessage(
            message: try ObjectReader(try root.required("message")), application: application,
            nowSeconds: nowSeconds)
        draft = try reader.draft()
    }

    private static func validateOnly(_ root: ObjectReader) throws(Refusal) -> Bool {
        guard let value = try root.either("validate_only"), !value.isNull else { return false }
        guard let truth = value.bool else { throw root.wrong("validate_only", "must be true or false") }
        return truth
    }
}

/// Reads the `message` of a call.
struct FirebaseMessage {
    let message: ObjectReader
    let application: Configuration.Application
    let nowSeconds: Int64

    /// What FCM knows; the other platforms' parts say nothing about a Live Activity and are let pass.
    private static let known: Set<String> = [
        "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions", "fid",
        "token",
        "topic", "condition",
    ]

    func draft() throws(Refusal) -> Draft {
        try message.refuseUnknown(known: FirebaseMessage.known)
        try checkTarget(message)
        try checkOptions(of: message, known: ["analytics_label", "analyticsLabel"])
        let apns = try ObjectReader(try message.required("apns"))
        try apns.refuseUnknown(known: [
            "headers", "payload", "fcm_options", "fcmOptions", "live_activity_token", "liveActivityToken",
        ])
        try checkOptions(of: apns, known: ["analytics_label", "analyticsLabel", "image"])
        let token = try liveActivityToken(apns)
        let headers = try FirebaseHeaders(
            apns.value["headers"], application, nowSeconds: nowSeconds)
        let push = try self.push(apns)
        return try draft(token, headers, push, apns)
    }

    private func draft(_ token: String, _ headers: FirebaseHeaders, _ push: CheckedPush, _ apns: ObjectReader)
        throws(Refusal) -> Draft
    {
        let expiration =
            headers.expirationSeconds
            ?? Draft.expirationSeconds(push, application.delivery, nowSeconds: nowSeconds)
        var notification = push.notification(
            priority: headers.priority ?? 10, expirationSeconds: expiration)
        notification.collapseID = headers.collapseID
        notification.apnsID = headers.id
        var draft = Draft(
            activity: ActivityName(
                application: application.code, space: push.event == .start ? .startToken : .token, name: token
            ),
            target: .audience(.token(token)), notification: notification, payload: push.payload,
            digest: push.event == .start ? SHA256.digest(message.value.bytes) : [],
            fields: Draft.Fields(
                activity: .member(apns, "live_activity_token"), state: .member(push.members, "content-state"))
        )
        let words = try alertWords()
        try draft.completeAlert(title: words.title, body: words.body, field: .member(push.members, "alert"))
        try draft.checkSize(push.members)
        return draft
    }

    /// Options say how Google counts a message: they are checked and go no further.
    private func checkOptions(of reader: ObjectReader, known: Set<String>) throws(Refusal) {
        guard let value = try reader.either("fcm_options"), !value.isNull else { return }
        let options = try ObjectReader(value)
        try options.refuseUnknown(known: known)
        if let label = try options.either("analytics_label"), label.string == nil {
            throw ObjectReader.wrong(label, "must be a string")
        }
        _ = try options.lenientString("image")
    }

    /// The pushed-to address is the Live Activity token; FCM wants one registration besides.
    private func checkTarget(_ message: ObjectReader) throws(Refusal) {
        let given = ["token", "fid", "topic", "condition"].filter { message.value[$0] != nil }
        guard let member = given.first else {
            throw message.wrong("token", "missing; exactly one of token and fid is needed", label: "target")
        }
        guard given.count == 1 else {
            throw Refusal(
                .argument,
                given.map {
                    Refusal.Violation(
                        field: message.name(of: $0), problem: "exactly one of token and fid is needed")
                }, label: "target")
        }
        guard member == "token" || member == "fid" else {
            throw message.wrong(member, "cannot be the target of a Live Activity", label: "target")
        }
        _ = try message.requiredText(member, bytesMax: 4_096)
    }

    private func liveActivityToken(_ apns: ObjectReader) throws(Refusal) -> String {
        guard let value = try apns.either("live_activity_token") else {
            throw apns.wrong("live_activity_token", "missing", label: "token")
        }
        return try DeviceToken.read(value, field: apns.name(of: "live_activity_token"))
    }

    private func push(_ apns: ObjectReader) throws(Refusal) -> CheckedPush {
        let payload = try ObjectReader(try apns.required("payload"))
        let aps = try ObjectReader(try payload.required("aps"))
        // The event first: clients that put the members beside `aps` learn where it belongs.
        let push = try CheckedPush(aps, .firebase, nowSeconds: nowSeconds)
        try payload.refuseUnknown(known: ["aps"])
        return push
    }

    /// The words of `notification`, which FCM makes an alert of where `aps` has none.
    private func alertWords() throws(Refusal) -> (title: String?, body: String?) {
        guard let value = message.lenient("notification") else { return (nil, nil) }
        let notification = try ObjectReader(value)
        return (try notification.lenientString("title"), try notification.lenientString("body"))
    }
}

extension ObjectReader {
    /// A member whose name may be written in snake_case or lowerCamelCase.
    ///
    /// - Throws: `Refusal` if it stands there in both spellings.
    func either(_ snake: String) throws(Refusal) -> JSONValue? {
        let parts = snake.split(separator: "_")
        let camel = parts.dropFirst().reduce(String(parts.first ?? "")) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
        let (one, other) = (value[snake], value[camel])
        guard one == nil || other == nil else {
            throw wrong(snake, "given twice, as \(snake) and as \(camel)", label: "repeated")
        }
        return one ?? other
    }
}
