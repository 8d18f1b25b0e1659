import Contracts

/// What is left of a push once the registry has noted its outcome: what a repeat of it is answered with.
///
/// Of one size, with nothing on the heap: a minute of pushes is many. Application and token come with the repeat.
struct NotedPush {
    let id: PushID
    let attempt: Int
    /// When the note came, on the monotonic clock.
    let notedAtMilliseconds: Int64
    private let wireTimestampSeconds: Int64
    // The small ones fill the gaps that optional ones leave.
    private let sentAtMilliseconds: Int64?
    private let result: Report.Result
    private let reason: Reasons.Code
    private let environment: APNsEnvironment
    private let apnsTimestampMilliseconds: Int64?
    /// 5 or 10 if it was sent, and told only then.
    private let priority: UInt8
    /// Three digits (RFC 9110, section 15).
    private let status: Int16?
    private let retryAtMilliseconds: Int64?

    init(
        _ id: PushID, _ push: KnownPush, _ outcome: KnownPush.Outcome, reason: Reasons.Code,
        at nowMilliseconds: Int64
    ) {
        self.id = id
        attempt = push.attempt
        notedAtMilliseconds = nowMilliseconds
        wireTimestampSeconds = push.wireTimestampSeconds
        sentAtMilliseconds = outcome.sentAtMilliseconds
        result = outcome.result
        self.reason = reason
        environment = push.environment
        apnsTimestampMilliseconds = outcome.apnsTimestampMilliseconds
        priority = UInt8(clamping: push.priority)
        status = outcome.status.map { Int16(clamping: $0) }
        retryAtMilliseconds = outcome.retryAtMilliseconds
    }

    /// The push as it was before the note, with what a repeat brings.
    func known(with arrived: KnownPush, _ reasons: Reasons) -> KnownPush {
        var push = arrived
        push.attempt = attempt
        push.environment = environment
        push.wireTimestampSeconds = wireTimestampSeconds
        push.priority = Int(priority)
        push.outcome = KnownPush.Outcome(
            result: result, status: status.map { Int($0) }, reason: reasons[reason],
            apnsTimestampMilliseconds: apnsTimestampMilliseconds,
            retryAtMilliseconds: retryAtMilliseconds, sentAtMilliseconds: sentAtMilliseconds)
        return push
    }
}

/// The reasons that have come, one byte for each: there are few, and each comes often.
struct Reasons {
    /// Stands for a reason; 0 for none.
    typealias Code = UInt8

    /// What those are called that come when there are no more codes: one that Apple does not list could be anything.
    static let other = "other"

    private var texts = [other]
    private var codes: [String: Code] = [:]

    /// The code of a reason.
    mutating func code(of text: String?) -> Code {
        guard let text else { return 0 }
        if let code = codes[text] { return code }
        guard let code = Code(exactly: texts.count + 1) else { return 1 }
        texts.append(text)
        codes[text] = code
        return code
    }

    /// The reason that a code stands for.
    subscript(code: Code) -> String? { code == 0 ? nil : texts[Int(code) - 1] }
}
