import Telemetry
import Web

/// Tells how a long piece of work goes: one line that changes on a terminal, else a line each 5 seconds.
final class Progress {
    private static let terminalMilliseconds: Int64 = 500
    private static let otherMilliseconds: Int64 = 5_000

    private let console: Console
    private var nextMilliseconds = Int64.min
    private var isOpen = false

    init(_ console: Console) {
        self.console = console
    }

    /// Shows a line, unless the last one is too recent.
    func show(_ text: @autoclosure () -> String, nowMilliseconds: Int64 = MonotonicClock.nowMilliseconds()) {
        guard nowMilliseconds >= nextMilliseconds else { return }
        let interval = console.isWatched ? Self.terminalMilliseconds : Self.otherMilliseconds
        nextMilliseconds = nowMilliseconds + interval
        guard console.isWatched else { return console.remark(text()) }
        console.remarks(Array("\r\(text())\u{1B}[K".utf8))
        isOpen = true
    }

    /// Shows the log lines among others that a person should see now.
    var graveLines: LogSink {
        { [console] line in
            let level = line.split(separator: UInt8(ascii: " "), maxSplits: 2).dropFirst().first
            guard level != ArraySlice("info".utf8) else { return }
            console.remarks(console.isWatched ? Array("\r\u{1B}[K".utf8) + line : line)
        }
    }

    /// Ends the line that changes, and says something in a line of its own.
    func say(_ text: String) {
        if isOpen { console.remarks(Array("\r\u{1B}[K".utf8)) }
        isOpen = false
        nextMilliseconds = .min
        console.remark(text)
    }
}
