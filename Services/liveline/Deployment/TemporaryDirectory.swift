import Crypto
import FoundationEssentials
import Service

/// A directory that is there as long as the value.
final class TemporaryDirectory {
    let path: String
    /// Whether it stays when the value goes.
    var isKept = false

    /// Makes it, for its owner alone, with a path short enough for sockets in it.
    ///
    /// - Throws: `CommandFailure` if it cannot be made.
    init() throws(CommandFailure) {
        path = "/tmp/liveline-\(String(randomUInt64() >> 24, radix: 36))"
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(.unavailable, "\(path): \(error)")
        }
    }

    deinit { if !isKept { try? FileManager.default.removeItem(atPath: path) } }
}
