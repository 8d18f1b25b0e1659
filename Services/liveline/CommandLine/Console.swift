import Glibc
import Telemetry

/// Where a command's results and remarks go.
struct Console: Sendable {
    /// Takes results, whole lines.
    var output: LogSink
    /// Takes remarks, progress and logs, whole lines.
    var remarks: LogSink
    /// Whether a person watches the remarks on a terminal.
    var isWatched: Bool

    /// The standard output and the standard error output.
    static var standard: Console {
        Console(
            output: writeToStandardOutput, remarks: writeToStandardError,
            isWatched: isatty(STDERR_FILENO) == 1)
    }

    /// Writes a result, which may have several lines.
    func say(_ text: String) { output(Array("\(text)\n".utf8)) }

    /// Writes a remark.
    func remark(_ text: String) { remarks(Array("\(text)\n".utf8)) }
}
