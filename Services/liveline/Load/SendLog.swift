/// What was sent in a run, what was answered, and what arrived at the simulator.
///
/// Sends are numbered from 0; the content state of each carries its number as `n`, by which its arrival is known.
struct SendLog {
    /// One send.
    private struct Entry {
        let activity: Int32
        let sentAtMicroseconds: Int64
        var code: String?
        var arrivals: Int32 = 0
    }

    /// How calls were answered.
    struct Answers: Sendable, Equatable {
        var accepted = 0
        var refused = 0
        var busy = 0
        /// Calls that nobody took, as there was no connection.
        var unreachable = 0
        var unknown = 0
        /// How often a call went out again after one of the last three.
        var retried = 0
        /// One reason of each kind that was not accepted.
        var reasons: [String] = []
    }

    private var entries: [Entry] = []
    private(set) var answers = Answers()
    private(set) var latenessMicroseconds: [Int64] = []
    private(set) var answerMicroseconds: [Int64] = []
    private(set) var arrivalMicroseconds: [Int64] = []
    /// How many sends have no answer yet.
    private(set) var unanswered = 0
    private var newestSent: [Int32: Int] = [:]

    /// How many sends there are.
    var count: Int { entries.count }

    /// The codes of all accepted messages, in order.
    var codes: [String] { entries.compactMap(\.code) }

    /// A call goes out.
    ///
    /// - Parameters:
    ///   - activity: the number of the activity that it is for.
    ///   - wall: the wall clock, UNIX microseconds.
    ///   - lateness: how long after its due moment, microseconds.
    /// - Returns: the send's number.
    mutating func send(activity: Int, wallMicroseconds wall: Int64, latenessMicroseconds lateness: Int64)
        -> Int
    {
        entries.append(Entry(activity: Int32(activity), sentAtMicroseconds: wall))
        latenessMicroseconds.append(lateness)
        newestSent[Int32(activity)] = entries.count - 1
        unanswered += 1
        return entries.count - 1
    }

    /// Whether nothing newer has been sent for the activity of a send.
    func isNewest(_ number: Int) -> Bool { newestSent[entries[number].activity] == number }

    /// A call was answered.
    mutating func answered(_ number: Int, _ answer: DoorAnswer, wallMicroseconds wall: Int64) {
        unanswered -= 1
        switch answer {
        case .accepted(let codes):
            answers.accepted += 1
            entries[number].code = codes.first
            answerMicroseconds.append(wall - entries[number].sentAtMicroseconds)
        case .refused(let reason):
            answers.refused += 1
            note("refused: \(reason)")
        case .busy(let reason):
            answers.busy += 1
            note("busy: \(reason)")
        case .unreachable(let reason):
            answers.unreachable += 1
            note("no connection: \(reason)")
        case .unknown(let reason):
            answers.unknown += 1
            note("no answer: \(reason)")
        }
    }

    /// A call that was not accepted goes out again; its former answer counts only as tried again.
    mutating func retry(_ number: Int, after answer: DoorAnswer) {
        unanswered += 1
        answers.retried += 1
        switch answer {
        case .busy: answers.busy -= 1
        case .unreachable: answers.unreachable -= 1
        case .unknown: answers.unknown -= 1
        case .accepted, .refused: break
        }
    }

    private mutating func note(_ reason: String) {
        if answers.reasons.count < 5, !answers.reasons.contains(reason) { answers.reasons.append(reason) }
    }

    /// A push with the number arrived.
    mutating func arrived(_ number: Int, atMicroseconds wall: Int64) {
        guard entries.indices.contains(number) else { return }
        entries[number].arrivals += 1
        arrivalMicroseconds.append(wall - entries[number].sentAtMicroseconds)
    }

    /// The number of the newest accepted send of each activity.
    var newestAccepted: [Int: Int] {
        var newest: [Int: Int] = [:]
        for number in entries.indices where entries[number].code != nil {
            newest[Int(entries[number].activity)] = number
        }
        return newest
    }

    /// How many pushes arrived beyond one for each device.
    func repeated(devices: Int) -> Int { entries.reduce(0) { $0 + max(0, Int($1.arrivals) - devices) } }

    /// How many activities' newest accepted sends have not reached all of their devices.
    func missing(devices: Int) -> Int {
        newestAccepted.values.reduce(0) { $0 + (Int(entries[$1].arrivals) < devices ? 1 : 0) }
    }
}
