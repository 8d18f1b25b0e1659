/// Why a call is not accepted; each door says it in its own way.
///
/// It names members by their path and never shows a value of the request.
struct Refusal: Error, Equatable, Sendable {
    /// What sort of refusal it is.
    enum Kind: Equatable, Sendable {
        /// The body is no JSON.
        case notJSON
        /// A member is missing, unknown or wrong.
        case argument
        /// No valid token.
        case unauthenticated
        /// A valid token for something else.
        case forbidden
        /// There is no such thing.
        case notFound
        /// The Live Activity token is known as dead.
        case unregistered
        /// The application has no key to push with.
        case noPushKeys
        /// The path exists, for another method.
        case method(allowed: String)
        /// It does not go with what was accepted before.
        case conflict
        /// The same key came before with something else.
        case unprocessable
        /// Nothing more is taken for now.
        case busy(retryAfterSeconds: Int)
    }

    /// One fault.
    struct Violation: Equatable, Sendable {
        /// The path of the member; empty for the call as a whole.
        var field: String
        /// What is wrong with it.
        var problem: String
    }

    var kind: Kind
    /// At least one.
    var violations: [Violation]
    /// What the metrics count it under; one of few words.
    var label: String

    /// A refusal with any number of faults.
    init(_ kind: Kind, _ violations: [Violation], label: String) {
        self.kind = kind
        self.violations = violations
        self.label = label
    }

    /// A refusal with one fault.
    init(_ kind: Kind, _ field: String, _ problem: String, label: String) {
        self.init(kind, [Violation(field: field, problem: problem)], label: label)
    }

    /// A refusal of one member.
    init(_ field: String, _ problem: String, label: String) {
        self.init(.argument, field, problem, label: label)
    }

    /// All faults in one line, such as `notifications[1].live_activity_id: missing`.
    var text: String {
        violations.map { $0.field.isEmpty ? $0.problem : "\($0.field): \($0.problem)" }.joined(
            separator: "; ")
    }

    /// What has room for a caller's work is used up.
    static func busy(_ problem: String, retryAfterSeconds: Int = 5) -> Refusal {
        Refusal(.busy(retryAfterSeconds: retryAfterSeconds), "", problem, label: "busy")
    }
}
