internal import Glibc
import Synchronization

/// Writes a line to the standard error output, with a single write(2) as a rule.
///
/// A line that cannot go is dropped rather than waited for: the log has no other place to say so, and no reader of it
/// may stop a service. It expects SIGPIPE to be ignored.
public func writeToStandardError(_ line: [UInt8]) {
    writeLine(line, to: STDERR_FILENO)
}

/// Writes a line to the standard output, in the same way.
public func writeToStandardOutput(_ line: [UInt8]) {
    writeLine(line, to: STDOUT_FILENO)
}

func writeLine(_ line: [UInt8], to descriptor: CInt) {
    var rest = line[...]
    while !rest.isEmpty {
        let written = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if written > 0 {
            rest = rest.dropFirst(written)
        } else if written == 0 || errno != EINTR {
            return
        }
    }
}

/// Keeps lines in memory, for tests that look at them.
public final class LogCollector: Sendable {
    private let kept = Mutex<[String]>([])

    /// Makes an empty collector.
    public init() {}

    /// What a ``Logger`` is given to write here.
    public var sink: LogSink {
        { [self] line in
            let text = String(
                decoding: line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...], as: UTF8.self)
            kept.withLock { $0.append(text) }
        }
    }

    /// The lines so far, without their line feeds.
    public var lines: [String] { kept.withLock { $0 } }

    /// Forgets all lines and returns them.
    public func drain() -> [String] {
        kept.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
