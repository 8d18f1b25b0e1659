import FoundationEssentials
import Service

/// Results as files.
enum TextFile {
    /// Writes a file, in place of what was there.
    ///
    /// - Throws: `CommandFailure` if it cannot be written.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        do {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            throw CommandFailure(.unavailable, "\(path): \(error)")
        }
    }
}
