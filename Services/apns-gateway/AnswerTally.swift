import Contracts
import Service

/// Counts answers by status and reason, and hands the sums on once a second rather than one by one.
struct AnswerTally {
    private struct Kind: Hashable, Comparable {
        var status: Int
        var reason: String

        static func < (left: Kind, right: Kind) -> Bool {
            (left.status, left.reason) < (right.status, right.reason)
        }
    }

    private static let waitMilliseconds: Int64 = 1_000
    private static let lineEachMilliseconds: Int64 = 60_000

    private var delivered = 0
    private var others: [Kind: Int] = [:]
    private var lastLines: [String: Int64] = [:]
    /// When the sums are to be handed on, on the monotonic clock; nil while there are none.
    private(set) var dueMilliseconds: Int64?

    mutating func add(status: Int, reason: String?, at now: Moment) {
        dueMilliseconds = dueMilliseconds ?? now.monotonic + Self.waitMilliseconds
        guard status != 200 else {
            delivered += 1
            return
        }
        // A reason that Apple does not list could be anything; one label stands for them all.
        let known = reason.map { Ruling.reasons[$0] != nil || $0 == "no-answer" ? $0 : "other" }
        others[Kind(status: status, reason: known ?? ""), default: 0] += 1
    }

    /// The sums, if they are due.
    mutating func flush(at now: Moment) -> [Count] {
        guard let due = dueMilliseconds, due <= now.monotonic else { return [] }
        var counts: [Count] = []
        if delivered > 0 {
            counts.append(Count("apns_answers", [("status", "200"), ("reason", "")], by: delivered))
        }
        for (kind, count) in others.sorted(by: { $0.key < $1.key }) {
            let status = kind.status == 0 ? "none" : "\(kind.status)"
            counts.append(Count("apns_answers", [("status", status), ("reason", kind.reason)], by: count))
        }
        (delivered, others, dueMilliseconds) = (0, [:], nil)
        return counts
    }

    /// Whether a reason has had no line in the log for a minute.
    mutating func isWorthALine(_ reason: String?, at now: Moment) -> Bool {
        let reason = reason ?? ""
        if let last = lastLines[reason], now.monotonic - last < Self.lineEachMilliseconds { return false }
        lastLines[reason] = now.monotonic
        return true
    }
}
