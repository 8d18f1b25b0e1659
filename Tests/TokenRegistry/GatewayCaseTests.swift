import Contracts
import Service
import Testing

@testable import token_registry

/// What the ledger has to do so that requests to APNs are right.
@Suite struct `For the wire` {
    @Test func `gw-collapse-id-length: ids of starts are short, plain, and as different as their activities`()
        throws
    {
        let stem = String(repeating: "y", count: 100)
        let names = [
            String(repeating: "x", count: 120), String(repeating: "👩‍🍳", count: 30), stem + "1", stem + "2",
            "ord-12 ", "ord-12",
        ]
        func collapseIDs() throws -> [String?] {
            let harness = try Harness()
            try harness.startToken(Token.startA)
            for name in names {
                try harness.send(
                    harness.command(.start, audience: .devices(["dev-1"]), activity: name), to: ["dev-1"])
            }
            return harness.sent.map(\.target.collapseID)
        }
        let ids = try collapseIDs()
        #expect(Set(ids).count == names.count)
        #expect(try collapseIDs() == ids)
        for id in ids {
            let id = try #require(id)
            #expect((1...64).contains(id.utf8.count))
            #expect(id.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
    }

    @Test(arguments: Life.allCases)
    func `gw-apns-id: each push has its own, kept over retries and found by the message`(life: Life) throws {
        let harness = try Harness(life)
        let devices = ["a", "b", "c"]
        for (number, device) in devices.enumerated() {
            try harness.startToken(Token.number(number + 1), device)
        }
        var isFirst = true
        harness.apns = { sent in
            guard sent.target.token == Token.number(2), isFirst else { return .ok }
            isFirst = false
            return .retry(503, "ServiceUnavailable", after: 5_000)
        }
        let start = try harness.start(devices)
        try harness.advance(seconds: 10)
        #expect(harness.counts(start) == .of(delivered: 3))
        let ids = harness.sent.map(\.target.apnsID)
        #expect(ids.count == 4 && Set(ids).count == 3)
        let canonical = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        #expect(ids.allSatisfy { $0.wholeMatch(of: canonical) != nil })
        #expect(harness.sent.filter { $0.target.token == Token.number(2) }.map(\.target.apnsID).count == 2)
        harness.forgetEffects()
        try harness.take(
            .query(
                Query(
                    id: 5, application: Harness.app, kind: .deliveries(message: start, after: 0, limit: 9))))
        let found: [String?] = harness.messages.compactMap { message -> [DeliveryLine]? in
            guard case .answer(let answer) = message, case .deliveries(let lines) = answer.content else {
                return nil
            }
            return lines
        }.joined().map(\.apnsID)
        #expect(Set(found) == Set(ids))
    }

    @Test func `jwt-expired-answer: while it goes on sending stops, and no device token is touched`() throws {
        let harness = try Harness()
        let run = try harness.joined()
        harness.apns = { _ in .retry(403, "ExpiredProviderToken", after: 1_000) }
        let message = try harness.update(run, "{\"n\":1}")
        try harness.advance(seconds: 240)
        let gaps = zip(harness.sent.dropFirst(), harness.sent).map { ($0.at - $1.at) / 1_000 }
        #expect(gaps == [1, 30, 60, 120])
        #expect(harness.logs.filter { $0 == "paused" }.count == 1)
        #expect(try harness.rowCount("delivery") == 1)
        harness.apns = { _ in .ok }
        try harness.advance(seconds: 250)
        #expect(harness.counts(message) == .of(delivered: 1))
        #expect(Set(harness.sent.map(\.target.token)) == [Token.a])
    }
}
