import Contracts

/// What was given back lately: a former hand-over of it that comes late is no new one.
struct GivenBack {
    /// How long it is remembered, in milliseconds.
    static let rememberMilliseconds: Int64 = 5_000

    private var attempts: [PushID: Int] = [:]
    private var forget: [(at: Int64, id: PushID, attempt: Int)] = []
    private var firstToForget = 0

    /// Notes that a hand-over was given back.
    mutating func add(_ id: PushID, attempt: Int, at now: Int64) {
        attempts[id] = max(attempts[id] ?? 0, attempt)
        forget.append((now + GivenBack.rememberMilliseconds, id, attempt))
    }

    /// Whether a hand-over, or one that followed it, was given back.
    func has(_ target: Target) -> Bool { attempts[target.id].map { $0 >= target.attempt } ?? false }

    /// Goes by a clock that was set by so many milliseconds.
    mutating func moveInstants(by step: Int64) {
        for index in forget.indices { forget[index].at += step }
    }

    /// Forgets what is long over.
    mutating func prune(at now: Int64) {
        while firstToForget < forget.count, forget[firstToForget].at <= now {
            let (_, id, attempt) = forget[firstToForget]
            firstToForget += 1
            if attempts[id] == attempt { attempts[id] = nil }
        }
        guard firstToForget > 1_024, firstToForget * 2 > forget.count else { return }
        forget.removeFirst(firstToForget)
        firstToForget = 0
    }
}
