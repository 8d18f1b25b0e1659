import Synchronization

@testable import liveline

/// A console whose lines are kept.
final class Screen: Sendable {
    private let lines = Mutex<(output: [String], remarks: [String])>(([], []))
    private let isWatched: Bool

    init(isWatched: Bool = false) {
        self.isWatched = isWatched
    }

    var console: Console {
        Console(
            output: { line in self.lines.withLock { $0.output.append(Self.text(line)) } },
            remarks: { line in self.lines.withLock { $0.remarks.append(Self.text(line)) } },
            isWatched: isWatched)
    }

    var output: [String] { lines.withLock { $0.output } }
    var remarks: [String] { lines.withLock { $0.remarks } }

    private static func text(_ line: [UInt8]) -> String {
        String(decoding: line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...], as: UTF8.self)
    }
}
