import Contracts
import Service
import Testing

@testable import token_registry

/// Numbers from a seed, the same on every machine.
struct Dice {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func roll(_ sides: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 33) % sides
    }
}

/// What a few devices and their activities go through in an hour, drawn from a seed.
struct Drama {
    let harness: Harness
    private var dice: Dice
    private var runs: [(run: Int64, activity: String)] = []
    private var messages: [Int64] = []
    private var nextToken = 100

    init(_ seed: UInt64, _ life: Life) throws {
        harness = try Harness(life)
        dice = Dice(seed)
        for device in 0..<4 { try harness.startToken(Token.number(device), "dev-\(device)") }
        harness.apns = { push in
            // What APNs answers depends on the push alone, so that every life of the registry meets the same.
            var dice = Dice(
                UInt64(bitPattern: push.target.id.message &* 31 &+ push.target.id.device)
                    &+ UInt64(push.target.attempt) &* 7_919 &+ seed)
            switch dice.roll(14) {
            case 0: return .retry(503, "ServiceUnavailable", after: 3_000)
            case 1: return .retry(nil, "no-answer", after: 1_000)
            case 2: return .failed(410, "Unregistered", at: push.at)
            case 3: return .failed(413, "PayloadTooLarge")
            case 4: return .failed(400, "BadDeviceToken")
            case 5: return .retry(nil, "send-before", after: 500, wasSent: false)
            case 6: return nil
            case 7 where dice.roll(6) == 0: return .retry(403, "InvalidProviderToken", after: 1_000)
            default: return .ok
            }
        }
    }

    mutating func play(scenes: Int) throws {
        for scene in 0..<scenes {
            try act(scene)
            try harness.advance(milliseconds: Int64(dice.roll(9_000)))
        }
        try harness.send(harness.command(.resume))
        while let push = harness.unanswered.first { try harness.answer(push, .ok) }
        harness.apns = { _ in .ok }
        // Everything has an outcome once every expiration has passed.
        try harness.advance(seconds: 7_200)
    }

    private mutating func act(_ scene: Int) throws {
        let device = "dev-\(dice.roll(4))"
        let choice = dice.roll(17)
        if choice == 0 || runs.isEmpty {
            let activity = "act-\(scene)"
            let devices = (0...dice.roll(4)).map { "dev-\($0)" }
            let command = harness.command(.start, audience: .devices(devices), activity: activity)
            runs.append((command.sequence, activity))
            messages.append(try harness.send(command, to: devices))
            return
        }
        let (run, activity) = runs[max(runs.count - 1 - dice.roll(3), 0)]
        switch choice {
        case 1, 2, 3:
            nextToken += 1
            try harness.activityToken(Token.number(nextToken), run: run, device, activity: activity)
        case 4:
            try harness.activityToken("", run: run, device, activity: activity)
        case 5:
            messages.append(try harness.send(harness.command(.end, run: run, activity: activity)))
        case 6:
            guard let message = messages.last else { return }
            var cancel = harness.command(.cancel, run: run)
            cancel.cancelledMessage = message
            try harness.send(cancel)
        case 7:
            try harness.startToken(Token.number(dice.roll(4)), device)
        case 8:
            guard let push = harness.unanswered.first else { return }
            try harness.answer(push, dice.roll(2) == 0 ? .ok : .retry(nil, "no-answer", after: 1_000))
        case 9:
            guard let push = harness.unanswered.last else { return }
            let key = CustodyKey.push(push.target.id, attempt: push.target.attempt)
            try harness.lose(push, [key])
        case 10:
            // A token that somebody had before, or has.
            let token = Token.number(100 + dice.roll(max(nextToken - 99, 1)))
            try harness.activityToken(token, run: run, device, activity: activity)
        case 11:
            let token = Token.number(100 + dice.roll(max(nextToken - 99, 1)))
            let kind = dice.roll(3) == 0 ? Command.Kind.end : .update
            let command = harness.command(
                kind, run: dice.roll(2) == 0 ? run : nil, audience: .token(token),
                expiration: harness.now.wallSeconds + 1_800, activity: token)
            messages.append(try harness.send(command))
        case 12:
            try harness.register(dice.roll(4) == 0 ? .unregister : .profile(Profile()), device)
        case 13:
            try harness.send(harness.command(dice.roll(3) == 0 ? .pause : .resume))
        default:
            let timestamp = harness.now.wallSeconds - Int64(dice.roll(3))
            messages.append(
                try harness.send(
                    harness.command(
                        .update, run: run, state: "{\"scene\":\(scene)}",
                        alert: dice.roll(3) == 0 ? "\"\(scene)\"" : "", priority: dice.roll(2) == 0 ? 5 : 10,
                        timestamp: timestamp, expiration: harness.now.wallSeconds + 1_800,
                        activity: activity)))
        }
    }

    /// What must hold whatever happened.
    func check() throws {
        for message in messages {
            let counts = try #require(harness.counts(message), "message \(message) is settled")
            let rows = try harness.rowCount("delivery WHERE message = \(message)")
            #expect(counts.total == rows)
        }
        #expect(try harness.rowCount("delivery WHERE state < 10") == 0)
        #expect(try harness.rowCount("delivery WHERE place IS NOT NULL") == 0)
        #expect(try harness.rowCount("participant WHERE waiting IS NOT NULL OR handed IS NOT NULL") == 0)
        #expect(try harness.rowCount("device WHERE start_handed IS NOT NULL") == 0)
        #expect(try harness.rowCount("run WHERE waiting <> 0") == 0)
        let miscounted = """
            run r WHERE open <> (SELECT count(*) FROM participant WHERE run = r.number AND state < 2)
            OR participants <> (SELECT count(*) FROM participant WHERE run = r.number)
            """
        #expect(try harness.rowCount(miscounted) == 0)
        checkPushes()
    }

    private func checkPushes() {
        let byParticipant = Dictionary(grouping: harness.sent) { $0.target.participant }
        for participant in byParticipant.keys.sorted() {
            let pushes = byParticipant[participant] ?? []
            let pairs = zip(pushes, pushes.dropFirst())
            #expect(pairs.allSatisfy { $0.notification.event != .end || $1.target.id == $0.target.id })
            let shown = pushes.filter(\.mayBeShown)
            #expect(
                zip(shown, shown.dropFirst()).allSatisfy {
                    $0.target.order <= $1.target.order || $1.notification.event == .end
                })
            #expect(pairs.allSatisfy { $0.wire < $1.wire || $0.target.id == $1.target.id })
        }
    }
}

@Suite struct `Whatever happens` {
    @Test(arguments: UInt64(1)...16)
    func `every delivery has one outcome, and a crash after each step changes none`(seed: UInt64) throws {
        var one = try Drama(seed, .one)
        try one.play(scenes: 60)
        try one.check()
        var other = try Drama(seed, .anewAfterEachStep)
        try other.play(scenes: 60)
        try other.check()
        #expect(one.harness.settled.mapValues(\.counts) == other.harness.settled.mapValues(\.counts))
        #expect(one.harness.sent.map(\.at).count == other.harness.sent.map(\.at).count)
        #expect(one.harness.factKinds == other.harness.factKinds)
    }
}
