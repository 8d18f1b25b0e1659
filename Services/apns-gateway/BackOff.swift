import Contracts

/// How often in a row each push has met the same trouble: what its next attempt waits for.
///
/// Answers of one kind count until APNs gives another one, and silences until it gives any. What was given back unsent,
/// for whatever reason, is neither. A push is remembered for twice the longest wait after its last trouble, at most, and
/// until so many others have met trouble after it; what is not remembered, and what a gateway that begins anew meets, counts
/// anew.
struct BackOff {
    /// What a push has met in a row; small, as an outage of APNs meets every push.
    private struct Row {
        /// What the kind of the last answer waits first, in milliseconds: it tells the kinds apart.
        var kind: Int32 = 0
        var answers: UInt8 = 0
        var silences: UInt8 = 0
    }

    /// After so long a page is turned, in milliseconds: no wait is longer.
    private static let pageMilliseconds = Ruling.delayMaxMilliseconds + 60_000

    /// How many pushes a page has; when it is full it is turned, and both together hold 13 MB.
    static let pageMax = 190_000

    // Two pages, of which the older one is thrown away whole: nothing has to be forgotten push by push.
    private var rows: [PushID: Row] = [:]
    private var former: [PushID: Row] = [:]
    private var turnsAt: Int64 = 0

    /// Notes trouble.
    ///
    /// - Returns: how often in a row it has come by now, from 1 to 255; 1 if its wait is always the same.
    mutating func note(_ ruling: Ruling, _ id: PushID, at now: Moment) -> Int {
        turnPage(at: now)
        guard case .doubling(let first) = ruling.delay else {
            end(id)
            return 1
        }
        var row = rows[id] ?? former[id] ?? Row()
        defer { rows[id] = row }
        guard ruling != .noAnswer else {
            row.silences += row.silences < .max ? 1 : 0
            return Int(row.silences)
        }
        let kind = Int32(clamping: first)
        row = Row(kind: kind, answers: row.kind == kind ? row.answers : 0)
        row.answers += row.answers < .max ? 1 : 0
        return Int(row.answers)
    }

    /// Forgets a push that has its outcome.
    mutating func end(_ id: PushID) {
        rows[id] = nil
        former[id] = nil
    }

    private mutating func turnPage(at now: Moment) {
        guard now.monotonic >= turnsAt || rows.count >= BackOff.pageMax else { return }
        former = now.monotonic >= turnsAt + Self.pageMilliseconds ? [:] : rows
        rows = [:]
        turnsAt = now.monotonic + Self.pageMilliseconds
    }
}
