import Contracts
import JSON
import Service
import Testing

@testable import ingest

/// How a message ended, and what its caller is told.
@Suite struct SettledTests {
    private func settled(_ message: Int64, _ revision: Int64, delivered: Int, expired: Int = 0) -> Message {
        var counts = OutcomeCounts()
        counts.delivered = delivered
        counts.expired = expired
        return .settled(
            Settled(
                message: message, revision: revision, counts: counts, settledAtMilliseconds: 1_700_000_009_000
            ))
    }

    private func status(_ bench: Bench, _ code: String, token: String = "k-test") throws -> HTTPReply {
        try bench.call("GET", "/v1/messages/\(code)", "", [("authorization", "bearer \(token)")])
    }

    @Test func `a message is accepted, taken and settled`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        #expect(
            try status(bench, code).text == """
                {"code":"\(code)","application":"AAAAA-00001","event":"start","activity":"ord-12","state":"accepted",\
                "cancelRequested":false,"acceptedAtMilliseconds":1700000000000,"takenAtMilliseconds":null,"settledAtMilliseconds":null,\
                "revision":null,"outcomes":{"delivered":0,"superseded":0,"expired":0,"failed":0,"unreachable":0,\
                "cancelled":0}}
                """)
        bench.advance(seconds: 1)
        try bench.hear(.taken(.command(message: 1)))
        #expect(try status(bench, code).json?["state"]?.string == "taken")
        #expect(try status(bench, code).json?["takenAtMilliseconds"]?.int64 == 1_700_000_001_000)
        #expect(
            try bench.hear(settled(1, 1, delivered: 2, expired: 1)) == [
                .noted(Noted([.settled(message: 1, revision: 1)]))
            ])
        let reply = try status(bench, code)
        #expect(reply.json?["state"]?.string == "settled")
        #expect(reply.json?["revision"]?.int64 == 1)
        #expect(reply.json?["outcomes"]?["delivered"]?.int64 == 2)
        #expect(reply.json?["outcomes"]?["expired"]?.int64 == 1)
    }

    @Test func `the highest revision holds, whatever comes last`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        for (revision, delivered) in [(2, 5), (1, 3), (2, 4), (3, 6)] {
            let noted = try bench.hear(settled(1, Int64(revision), delivered: delivered))
            #expect(noted == [.noted(Noted([.settled(message: 1, revision: Int64(revision))]))])
        }
        #expect(try status(bench, code).json?["outcomes"]?["delivered"]?.int64 == 6)
        let counted = bench.counts.filter { $0.name == "settled" }.map(\.by)
        #expect(counted == [5, 1])
    }

    @Test func `what is settled is taken, also when that word comes later or never`() throws {
        let bench = try Bench()
        try bench.start()
        _ = try bench.turn()
        try bench.update()
        try bench.hear(settled(1, 1, delivered: 1))
        #expect(try bench.turn().commands.map(\.sequence) == [2])
        try bench.restart()
        #expect(try bench.turn().commands.map(\.sequence) == [2])
    }

    @Test func `a message that is not known is noted all the same`() throws {
        let bench = try Bench()
        #expect(
            try bench.hear(settled(9, 1, delivered: 1)) == [
                .noted(Noted([.settled(message: 9, revision: 1)]))
            ])
    }

    /// What the ledger is asked, and whether anything else is sent.
    private func question(_ bench: Bench) throws -> Query? {
        guard case .query(let query)? = try bench.turn().first else { return nil }
        return query
    }

    @Test func `what the ledger does not hold any more is lost, and says so`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        let other = try #require(try bench.start(Bench.start.replacing("ord-12", with: "ord-13")).codes.first)
        for message in [1, 2] as [Int64] { try bench.hear(.taken(.command(message: message))) }
        #expect(try question(bench) == nil)
        bench.advance(seconds: 60)
        let query = try #require(try question(bench))
        #expect(query.application == "AAAAA-00001")
        #expect(query.kind == .missing(messages: [1, 2]))
        try bench.hear(.answer(Answer(id: query.id, content: .missing(messages: [2, 7]))))
        #expect(try status(bench, code).json?["state"]?.string == "taken")
        let lost = try status(bench, other)
        #expect(lost.json?["state"]?.string == "lost")
        #expect(lost.json?["settledAtMilliseconds"]?.int64 == bench.now.wall)
        #expect(bench.counts.filter { $0.name == "lost" }.map(\.by) == [1])
        #expect(bench.logs.last?.event == "messages-lost")
        // The same answer again is nobody's, and a word of the ledger holds after all.
        try bench.hear(.answer(Answer(id: query.id, content: .missing(messages: [1]))))
        #expect(try status(bench, code).json?["state"]?.string == "taken")
        try bench.hear(settled(2, 0, delivered: 1))
        #expect(try status(bench, other).json?["state"]?.string == "settled")
    }

    @Test
    func `the ledger is asked page by page, again where it is silent, and not of what waits or is settled`()
        throws
    {
        let bench = try Bench()
        let count = LedgerCheck.pageMax + 3
        for number in 1...count {
            try bench.start(Bench.start.replacing("ord-12", with: "ord-\(number)"))
            try bench.hear(.taken(.command(message: Int64(number))))
        }
        try bench.hear(settled(2, 0, delivered: 1))
        try bench.start(Bench.start.replacing("ord-12", with: "waits"))
        let first = [1] + (3...Int64(LedgerCheck.pageMax + 1))
        bench.advance(seconds: 60)
        _ = try #require(try bench.turn().last)
        #expect(try question(bench) == nil)
        bench.advance(seconds: 60)
        let again = try #require(try question(bench))
        #expect(again.kind == .missing(messages: first))
        try bench.hear(.answer(Answer(id: again.id, content: .missing(messages: []))))
        #expect(try question(bench) == nil)
        bench.advance(seconds: 1)
        let last = try #require(try question(bench))
        #expect(last.kind == .missing(messages: [Int64(count) - 1, Int64(count)]))
        try bench.hear(.answer(Answer(id: last.id, content: .missing(messages: []))))
        bench.advance(seconds: 1)
        #expect(try question(bench) == nil)
        bench.advance(seconds: 60)
        #expect(try question(bench)?.kind == .missing(messages: first))
    }

    @Test func `a start that is lost may be made again, unless somebody has shown it`() throws {
        for isShown in [false, true] {
            let bench = try Bench()
            let code = try #require(try bench.start().codes.first)
            try bench.hear(.taken(.command(message: 1)))
            if isShown { try bench.activityToken(Bench.tokA) }
            #expect(try bench.journal.markLost(1, atMilliseconds: bench.now.wall))
            let again = try bench.start()
            #expect(again.code == 200)
            #expect((again.codes.first == code) == isShown)
        }
    }

    @Test func `an end that is lost lets the activity begin anew`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.hear(.taken(.command(message: 1)))
        try bench.update(Bench.end)
        try bench.hear(.taken(.command(message: 2)))
        bench.advance(seconds: 60)
        let query = try #require(try question(bench))
        try bench.hear(.answer(Answer(id: query.id, content: .missing(messages: [1, 2]))))
        let run = try #require(
            try bench.journal.newestRun(
                ActivityName(application: "AAAAA-00001", space: .id, name: "ord-12")))
        #expect(run.isEndSettled)
    }

    @Test func `only a message's own application may ask for it`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        #expect(try status(bench, code, token: "k-other").status == 404)
        #expect(try status(bench, code, token: "k-none").status == 401)
        #expect(try bench.call("GET", "/v1/messages/\(code)").status == 401)
        #expect(try status(bench, "XXXXX-XXXXXXXX-XXXXXXXX").status == 404)
        #expect(try bench.call("POST", "/v1/messages/\(code)").status == 405)
        #expect(try status(bench, code.lowercased()).status == 200)
    }

    @Test func `a token is shown shortened`() throws {
        let bench = try Bench()
        let name = try #require(try bench.fcm(Bench.fcmUpdate).json?["name"]?.string)
        let code = try #require(name.split(separator: "/").last)
        let reply = try status(bench, String(code))
        #expect(reply.json?["token"]?.string == "a1a1a1…")
        #expect(!reply.text.contains(Bench.tokA))
    }

    @Test func `health and readiness are served to anybody`() throws {
        let bench = try Bench()
        #expect(try bench.call("GET", "/healthz").text == #"{"status":"ok"}"#)
        #expect(try bench.call("GET", "/readyz").status == 200)
        bench.core = Ingest(bench.configuration)
        #expect(try bench.call("GET", "/readyz").status == 503)
        #expect(try bench.call("GET", "/nothing").status == 404)
        #expect(try bench.call("GET", "/").status == 404)
    }
}
