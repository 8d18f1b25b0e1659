import Synchronization
import Telemetry

/// The last lines of a log, in memory.
final class LogTail: Sendable {
    /// How many lines are kept.
    static let linesMax = 50_000

    private let lines = Mutex<(kept: [String], next: Int)>(([], 0))

    /// Takes lines.
    var sink: LogSink {
        { [self] line in
            let text = String(decoding: line, as: UTF8.self)
            lines.withLock { lines in
                if lines.kept.count < Self.linesMax {
                    lines.kept.append(text)
                } else {
                    lines.kept[lines.next] = text
                    lines.next = (lines.next + 1) % Self.linesMax
                }
            }
        }
    }

    /// All of them, the oldest first.
    var text: String {
        lines.withLock { lines in
            (lines.kept[lines.next...] + lines.kept[..<lines.next]).joined()
        }
    }
}
