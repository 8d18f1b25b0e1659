import Contracts
import Service
import Web

/// What became of many messages, asked for until all are settled.
struct StatusSweep: Equatable {
    private static let pauseMilliseconds: Int64 = 500

    /// How many deliveries ended in each way.
    private(set) var counts = OutcomeCounts()
    /// How many messages are settled.
    private(set) var settled = 0
    /// The messages that are not settled after all.
    private(set) var unsettled: [String] = []

    /// Asks for all of them, again and again for those that are not settled.
    ///
    /// - Throws: `CommandFailure` if the loop is to end early.
    init(
        _ codes: [String], door: Door, loop: CallLoop, progress: Progress, limitMilliseconds: Int64
    ) throws(CommandFailure) {
        let end = MonotonicClock.nowMilliseconds() + limitMilliseconds
        unsettled = codes
        while !unsettled.isEmpty {
            try round(door, loop, progress, of: codes.count)
            guard !unsettled.isEmpty, MonotonicClock.nowMilliseconds() < end else { break }
            try loop.run(forMilliseconds: Self.pauseMilliseconds)
        }
        progress.say(Self.line(settled, of: codes.count))
    }

    private static func line(_ settled: Int, of count: Int) -> String {
        "messages settled: \(Numbers.grouped(settled)) of \(Numbers.grouped(count))"
    }

    private mutating func round(
        _ door: Door, _ loop: CallLoop, _ progress: Progress, of count: Int
    ) throws(CommandFailure) {
        let asked = unsettled
        var open: [String] = []
        var (counts, settled) = (counts, settled)
        try loop.calls(asked.count) {
            door.statusRequest(asked[$0])
        } take: { place, result in
            defer { progress.show(Self.line(settled, of: count)) }
            guard case .success(let answer) = result, let status = MessageStatus(answer.body),
                status.isSettled
            else {
                open.append(asked[place])
                return
            }
            settled += 1
            for outcome in Outcome.allCases { counts[outcome] += status.counts[outcome] }
        }
        (self.counts, self.settled, unsettled) = (counts, settled, open)
    }
}
