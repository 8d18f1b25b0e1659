import Collections
import FoundationEssentials
import Web

/// Starts, updates and ends activities by the clock, each activity's calls one after the other.
///
/// A call without an answer, and one that the door cannot take now, goes again under the same `Idempotency-Key` until
/// it is answered, so that in the end nothing about it is unknown. Calls that are due while no activity is free go as
/// soon as one is.
final class ChaosTraffic: Pollable {
    /// A place for one activity after the other.
    private struct Slot {
        let hardwareIDs: [String]
        /// Whom its starts are for.
        let audience: LiveActivityCall.Audience
        /// The channel that its activity is bound to.
        let channel: String?
        var serial: Int?
        var updates = 0
    }

    /// A call that goes until it is answered.
    private struct Call {
        let slot: Int
        let kind: ChaosBook.Kind
        let number: ChaosNumber
        let request: HTTPClientRequest
    }

    /// What is shared with whoever reads the results.
    let book: Shared<ChaosBook>
    private let parameters: ChaosParameters
    private let schedule: OpenLoop
    private let client: HTTPClient
    private let door: Door
    private let name: String
    private let accepted: (ChaosNumber, String) -> Void
    private let beganMicroseconds = Stopwatch.microseconds()
    private var random: ChaosRandom
    private var slots: [Slot]
    private let strayingSlots: [Int]
    private var free = FIFO<Int>()
    private var retries = FIFO<(due: Int64, call: Call)>()
    private var calls: Int64 = 0
    private(set) var underWay = 0
    /// How often a call went again, after no answer and after one that says: later, by its words.
    private(set) var unknown = 0
    private(set) var busy: [String: Int] = [:]
    /// Whether the clock makes calls no more.
    var isHeld = false
    /// How many calls the clock has made due, sent or not.
    var offered: Int { Int(min(schedule.count, schedule.rate * elapsed / 1_000_000 + 1)) }
    /// Microseconds since the first call.
    private var elapsed: Int64 { Stopwatch.microseconds() - beganMicroseconds }

    /// How long a call waits for its answer, and for going again, ms.
    private static let (timeoutMilliseconds, retryMilliseconds) = (Int64(5_000), Int64(300))
    /// An activity gets so many updates at least, and every so many calls after that one is its end.
    private static let (updatesMin, endStride) = (4, 30)

    /// - Parameters:
    ///   - parameters: how many activities and calls.
    ///   - book: where everything is written down.
    ///   - setup: names phones and activities.
    ///   - client: where calls are made.
    ///   - channels: those of the slots that have one.
    ///   - accepted: is told each accepted message and its code.
    init(
        _ parameters: ChaosParameters, book: Shared<ChaosBook>, setup: LoadSetup, client: HTTPClient,
        channels: [Int: String] = [:], accepted: @escaping (ChaosNumber, String) -> Void
    ) {
        (self.parameters, self.book, self.client, self.accepted) = (parameters, book, client, accepted)
        (door, name) = (setup.door, setup.name)
        schedule = OpenLoop(rate: parameters.rate, count: parameters.rate * parameters.seconds)
        random = ChaosRandom(seed: parameters.seed, purpose: 100)
        var phones = 0
        slots = (0..<parameters.activities).map { slot in
            let count = ChaosParameters.phones(ofSlot: slot)
            defer { phones += count }
            let hardwareIDs = (phones..<phones + count).map { setup.hardwareID($0) }
            return Slot(
                hardwareIDs: hardwareIDs,
                audience: ChaosParameters.isFiltered(slot)
                    ? .filter(setup.filter(phones + 1)) : .devices(hardwareIDs),
                channel: channels[slot])
        }
        strayingSlots = slots.indices.filter(ChaosParameters.isStraying)
        for slot in slots.indices { free.append(slot) }
    }

    /// One of the activities whose tokens may change, as they are now; nil if there is none in the place picked.
    func straying(_ pick: Int) -> (serial: Int, activity: String, hardwareID: String)? {
        guard !strayingSlots.isEmpty else { return nil }
        let slot = slots[strayingSlots[pick % strayingSlots.count]]
        return slot.serial.map { ($0, activity($0), slot.hardwareIDs[0]) }
    }

    /// All activities that are not ended, with their phones.
    var running: [(serial: Int, activity: String, hardwareIDs: [String])] {
        slots.compactMap { slot in slot.serial.map { ($0, activity($0), slot.hardwareIDs) } }
    }

    private func activity(_ serial: Int) -> String { "\(name)-\(serial)" }

    // MARK: Turns

    var descriptor: CInt { -1 }

    var nextDeadlineMilliseconds: Int64? {
        let retry = retries.first?.due
        guard !isHeld, !free.isEmpty, calls < schedule.count else { return retry }
        let wait = schedule.dueMicroseconds(calls) - (Stopwatch.microseconds() - beganMicroseconds)
        let next = MonotonicClock.nowMilliseconds() + max(0, (wait + 999) / 1_000)
        return min(next, retry ?? next)
    }

    func process(nowMilliseconds: Int64) {
        let now = Stopwatch.microseconds() - beganMicroseconds
        while !isHeld, calls < schedule.count, schedule.dueMicroseconds(calls) <= now,
            let slot = free.popFirst()
        {
            calls += 1
            call(slot)
        }
        while let first = retries.first, first.due <= nowMilliseconds, let retry = retries.popFirst() {
            send(retry.call)
        }
    }

    /// One more update of each activity, so that every phone has something newest to show.
    func update() {
        for slot in slots.indices {
            if let serial = slots[slot].serial { call(slot, .update, serial) }
        }
    }

    private func call(_ slot: Int) {
        guard let serial = slots[slot].serial else {
            let serial = book.value.begin(
                name: activity, hardwareIDs: slots[slot].hardwareIDs, channel: slots[slot].channel)
            slots[slot].serial = serial
            slots[slot].updates = 0
            return call(slot, .start, serial)
        }
        let isEnd =
            slots[slot].channel == nil && slots[slot].updates >= Self.updatesMin
            && random.happens(onceIn: Self.endStride)
        slots[slot].updates += 1
        call(slot, isEnd ? .end : .update, serial)
    }

    private func call(_ slot: Int, _ kind: ChaosBook.Kind, _ serial: Int) {
        let number = book.value.send(kind, serial: serial)
        var call: LiveActivityCall
        switch kind {
        case .start:
            call = LoadSetup.start(
                activity(serial), slots[slot].audience, number: number.packed)
            call.channel = slots[slot].channel
        case .update:
            call = LiveActivityCall(
                .update, activity: activity(serial), state: LoadSetup.state(number.packed))
        case .end:
            call = LiveActivityCall(.end, activity: activity(serial), state: LoadSetup.state(number.packed))
        }
        call.timestampSeconds = nil
        var request = door.request(call, idempotencyKey: "\(name)-\(number.packed)")
        request.timeoutMilliseconds = Self.timeoutMilliseconds
        underWay += 1
        send(Call(slot: slot, kind: kind, number: number, request: request))
    }

    private func send(_ call: Call) {
        client.send(call.request) { [weak self] result in self?.answered(call, DoorAnswer(result)) }
    }

    private func answered(_ call: Call, _ answer: DoorAnswer) {
        switch answer {
        case .accepted(let codes):
            book.value.accepted(call.number, code: codes.first ?? "")
            accepted(call.number, codes.first ?? "")
            if call.kind == .end { slots[call.slot].serial = nil }
        case .refused(let reason):
            book.value.refused(call.number, reason)
            book.value.abandon(call.number.serial)
            slots[call.slot].serial = nil
        case .busy(let reason):
            busy[reason, default: 0] += 1
            return again(call)
        case .unreachable, .unknown:
            unknown += 1
            return again(call)
        }
        underWay -= 1
        free.append(call.slot)
    }

    private func again(_ call: Call) {
        retries.append((MonotonicClock.nowMilliseconds() + Self.retryMilliseconds, call))
    }

    /// Gives up what is still not answered.
    func giveUp() {
        while let retry = retries.popFirst() { book.value.unanswered(retry.call.number) }
    }
}

/// A value that several members of one loop work on in turns.
final class Shared<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}
