/// The two worlds of APNs; tokens and keys belong to one of them.
enum APNsEnvironment: String, Sendable, CaseIterable {
    case production, sandbox
}
