import Web

/// A program that is to be started and watched.
struct ChildPlan: Sendable {
    /// What it is called in the log.
    var name: String
    /// The executable.
    var path: String
    /// The words behind its name.
    var arguments: [String]
    /// Variables beside those of this process.
    var environment: [String: String] = [:]
    /// The call that is answered 200 once it is ready; without one it is ready when it has started.
    var probe: HTTPClientRequest?
    /// Whether the others are started only when it is ready.
    var comesFirst = false
}
