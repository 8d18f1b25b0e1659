import Contracts
import Service
import Testing

@testable import ingest

/// Which run an activity's token is for.
@Suite struct TokenPlacementTests {
    private func token(_ message: Message?) -> ActivityToken? {
        guard case .registration(let registration)? = message,
            case .activityToken(let token) = registration.change
        else { return nil }
        return token
    }

    /// The runs of the tokens that were journalled, in order, whatever was taken meanwhile.
    private func runs(_ bench: Bench) throws -> [Int64] {
        var runs: [Int64] = []
        while true {
            let registrations = try bench.turn().registrations
            guard !registrations.isEmpty else { return runs }
            for registration in registrations {
                guard case .activityToken(let token) = registration.change else { continue }
                runs.append(token.run)
                try bench.hear(.taken(.registration(sequence: registration.sequence, by: .tokenRegistry)))
            }
        }
    }

    @Test func `a token belongs to the run that runs`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        #expect(try runs(bench) == [1])
    }

    @Test func `a token for an id that does not run begins a run`() throws {
        let bench = try Bench()
        try bench.activityToken("<A1A1 a1a1>")
        let sent = try bench.turn()
        #expect(token(sent.first) == ActivityToken(token: "a1a1a1a1", activity: "ord-12", run: 1))
        #expect(try bench.update().code == 200)
        #expect(try bench.start().statusMessage == RunTests.running)
        try bench.hear(.taken(.registration(sequence: 1, by: .tokenRegistry)))
        #expect(try bench.turn().commands.map(\.run) == [1])
    }

    @Test func `while an end is not settled a token belongs to the run it ends`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.end()
        try bench.activityToken(Bench.tokA)
        try bench.hear(
            .settled(
                Settled(
                    message: 2, revision: 1, counts: OutcomeCounts(), settledAtMilliseconds: bench.now.wall)))
        try bench.activityToken(Bench.tokB, device: "dev-2")
        #expect(try runs(bench) == [1, 4])
    }

    @Test func `a token of a run that is over is ignored, before and after a new start`() throws {
        let bench = try ended()
        #expect(try bench.activityToken(Bench.tokA).code == 200)
        try bench.start()
        try bench.activityToken(Bench.tokB)
        #expect(try bench.activityToken(Bench.tokA).code == 200)
        #expect(try runs(bench) == [1, 4])
        #expect(bench.logs.filter { $0.event == "token-ignored" }.count == 2)
    }

    private func fact(_ kind: Fact.Kind, _ number: Int64, _ token: String? = nil, restingOn: Int64) -> Message
    {
        var fact = Fact(
            number: number, application: "AAAAA-00001", kind: kind, registrationSequence: restingOn)
        (fact.token, fact.run) = (token, 1)
        return .fact(fact)
    }

    /// A run of one phone, whose end is settled.
    private func ended() throws -> Bench {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        try bench.end()
        try bench.hear(
            .settled(
                Settled(
                    message: 3, revision: 1, counts: OutcomeCounts(), settledAtMilliseconds: bench.now.wall)))
        return bench
    }

    /// A run whose only phone's token has died.
    private func awaiting() throws -> Bench {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        try bench.hear(fact(.tokenDied, 1, Bench.tokA, restingOn: 2))
        try bench.hear(fact(.runEmpty, 2, restingOn: 2))
        return bench
    }

    @Test func `a phone whose token has died comes back to the run with a new one`() throws {
        let bench = try awaiting()
        #expect(try bench.update().code == 200, "for when it is back")
        bench.advance(seconds: 599)
        try bench.activityToken(Bench.tokB)
        #expect(try runs(bench) == [1, 1])
        let other = try bench.start(Bench.start.replacing(#""step":1"#, with: #""step":9"#))
        #expect(other.statusMessage == RunTests.running)
    }

    @Test func `a run that awaits a phone takes others, and nothing after its time`() throws {
        let bench = try awaiting()
        try bench.activityToken(Bench.tokB, device: "dev-2")
        #expect(try runs(bench) == [1, 1])
        let late = try awaiting()
        late.advance(seconds: 600)
        #expect(try late.update().statusMessage.contains("no device shows the activity any more"))
        try late.activityToken(Bench.tokB)
        #expect(try runs(late) == [1, 3])
    }

    @Test func `a run that awaits a phone hinders no new start, but the same again is answered as the first`()
        throws
    {
        let bench = try awaiting()
        #expect(try bench.start().codes.compactMap(bench.journal.codes.sequence) == [1])
        let other = Bench.start.replacing(#""step":1"#, with: #""step":9"#)
        #expect(try bench.start(other).codes.compactMap(bench.journal.codes.sequence) == [3])
        try bench.activityToken(Bench.tokB)
        #expect(try runs(bench) == [1, 3])
    }

    @Test func `who dismisses an activity is not awaited`() throws {
        let bench = try awaiting()
        try bench.activityToken("", device: "dev-2")
        #expect(try bench.update().code == 200, "another phone's word")
        try bench.activityToken("")
        #expect(try bench.update().statusMessage.contains("no device shows the activity any more"))
        try bench.activityToken(Bench.tokB)
        #expect(try runs(bench).max() == 6)
    }

    @Test func `a phone whose token has died gets an end that is settled`() throws {
        let bench = try awaiting()
        #expect(try bench.end().code == 200)
        try bench.hear(
            .settled(
                Settled(
                    message: 3, revision: 1, counts: OutcomeCounts(), settledAtMilliseconds: bench.now.wall)))
        try bench.activityToken(Bench.tokB)
        try bench.activityToken(String(repeating: "c3", count: 32), device: "dev-2")
        // Those of one phone go one after the other.
        #expect(try runs(bench).sorted() == [1, 1, 5])
    }

    @Test func `who dismisses an activity does not come for an end that is settled`() throws {
        let bench = try awaiting()
        try bench.end()
        try bench.hear(
            .settled(
                Settled(
                    message: 3, revision: 1, counts: OutcomeCounts(), settledAtMilliseconds: bench.now.wall)))
        try bench.activityToken("")
        try bench.activityToken(Bench.tokB)
        #expect(try runs(bench) == [1, 4])
    }

    @Test func `a death that is told once more makes no longer wait`() throws {
        let bench = try awaiting()
        bench.advance(seconds: 590)
        try bench.hear(fact(.tokenDied, 1, Bench.tokA, restingOn: 2))
        #expect(try bench.update().code == 200)
        bench.advance(seconds: 10)
        #expect(try bench.update().statusMessage.contains("no device shows the activity any more"))
    }

    @Test(arguments: [false, true])
    func `a dismissal counts also where the word of the death is later`(isEnded: Bool) throws {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        if isEnded {
            try bench.end()
            try bench.hear(
                .settled(
                    Settled(
                        message: 3, revision: 1, counts: OutcomeCounts(),
                        settledAtMilliseconds: bench.now.wall)))
        }
        try bench.activityToken("")
        try bench.hear(fact(.tokenDied, 1, Bench.tokA, restingOn: 2))
        try bench.hear(fact(.runEmpty, 2, restingOn: 3))
        if !isEnded {
            #expect(try bench.update().statusMessage.contains("no device shows the activity any more"))
        }
        try bench.activityToken(Bench.tokB)
        #expect(try runs(bench).max() == 4)
    }

    @Test(arguments: [(59, nil, 1), (60, nil, 4), (0, Fact.Kind.participantEnded, 4), (500, .tokenDied, 1)])
    func `whether an end that is settled reached the phone may be heard a moment later`(
        seconds: Int64, kind: Fact.Kind?, run: Int64
    ) throws {
        let bench = try ended()
        if let kind { try bench.hear(fact(kind, 1, Bench.tokA, restingOn: 2)) }
        bench.advance(seconds: seconds)
        try bench.activityToken(Bench.tokB)
        #expect(try runs(bench).max() == run)
    }

    @Test func `an empty token is told on, also right after the first of a run`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        try bench.activityToken("")
        #expect(
            try runs(bench) == [1, 1], "whether it is meant for an activity before is the registry's to say")
    }

    @Test func `an empty token for nothing that runs is no fault and changes nothing`() throws {
        let bench = try Bench()
        #expect(try bench.activityToken("").code == 200)
        #expect(try bench.activityToken("", "").code == 200)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `a token without an id names its own activity`() throws {
        let bench = try Bench()
        try bench.activityToken(Bench.tokA, "")
        try bench.activityToken(Bench.tokB, "", device: "dev-2")
        let sent = try bench.turn()
        #expect(sent.map { token($0)?.run } == [1, 2])
        #expect(token(sent.first)?.activity == Bench.tokA)
        try bench.fcm(Bench.fcmUpdate)
        try bench.hear(.taken(.registration(sequence: 1, by: .tokenRegistry)))
        #expect(try bench.turn().commands.map(\.run) == [1])
    }

    @Test func `a token that moves to another id belongs there`() throws {
        let bench = try Bench()
        try bench.activityToken(Bench.tokA, "one")
        try bench.activityToken(Bench.tokA, "two")
        #expect(try runs(bench) == [1, 2])
        #expect(try bench.journal.token(Bench.tokA, application: "AAAAA-00001")?.run == 2)
    }
}
