import Contracts
import Service
import Testing

@testable import ingest

/// Situations met when running a push back end, by their names: the door's part in those of the services behind it.
@Suite struct `Situations behind the door` {
    private func activityTokens(_ messages: [Message]) -> [String?] {
        messages.registrations.compactMap {
            if case .activityToken(let token) = $0.change { token.token } else { nil }
        }
    }

    @Test func `reg-token-spelling: one token, however its digits are written`() throws {
        let bench = try Bench()
        let groups = Array(repeating: "A1A1", count: 40).joined(separator: " ")
        for spelling in ["<\(groups)>", groups, Bench.tokA.uppercased(), Bench.tokA] {
            #expect(try bench.activityToken(spelling).status == 200, "\(spelling)")
        }
        #expect(Set(activityTokens(try bench.drain())) == [Bench.tokA])
        let spaced = Bench.fcmUpdate.replacing(Bench.tokA, with: "<\(groups)>")
        #expect(try bench.fcm(spaced).status == 200)
        #expect(try bench.drain().commands.map(\.audience) == [.token(Bench.tokA)])
    }

    @Test(arguments: [String(repeating: "a", count: 159), "a1zz", "a1-a1", "0xa1"])
    func `reg-token-spelling: what is no even number of hex digits is refused`(token: String) throws {
        let bench = try Bench()
        let reply = try bench.activityToken(token)
        #expect(reply.code == 210)
        #expect(reply.statusMessage.contains("activity_token"))
        #expect(try bench.drain().isEmpty)
    }

    @Test func `reg-token-length: a thousand digits are kept whole, a hundred thousand refused`() throws {
        let bench = try Bench()
        let tokens = [64, 160, 200, 512, 1_024].map { String(repeating: "c", count: $0) }
        for (number, token) in tokens.enumerated() {
            #expect(try bench.activityToken(token, "ord-\(number)").status == 200)
        }
        #expect(activityTokens(try bench.drain()) == tokens)
        for digits in [1_026, 100_000] {
            let reply = try bench.activityToken(String(repeating: "c", count: digits))
            #expect(reply.code == 210)
            #expect(
                reply.statusMessage.contains("1024") || reply.statusMessage.contains("1,024"),
                "\(reply.text.prefix(300))")
        }
        #expect(try bench.drain().isEmpty)
    }

    @Test func `reg-registration-repeated: twenty times the same are twenty successes`() throws {
        let bench = try Bench()
        for _ in 0..<20 { #expect(try bench.activityToken(Bench.tokA).code == 200) }
        let late = try bench.phone(
            "setActivityToken",
            #""activity_token":"\#(Bench.tokB)","activity_id":"ord-12","registered_at":\#(Bench.nowSeconds - 60)"#
        )
        #expect(late.code == 200)
        let registrations = try bench.drain().registrations
        #expect(registrations.map(\.sequence) == registrations.map(\.sequence).sorted())
        let last = try #require(registrations.last)
        guard case .activityToken(let token) = last.change else {
            Issue.record("\(last.change)")
            return
        }
        #expect(token.token == Bench.tokB)
        #expect(token.registeredAtSeconds == Bench.nowSeconds - 60)
    }

    @Test func `lim-update-after-end: an ended activity is refused by name until it starts again`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        try bench.end()
        let update = try bench.update()
        #expect(update.code == 210)
        #expect(update.statusMessage.contains("live_activity_id"))
        #expect(update.statusMessage.contains("ended"))
        #expect(try bench.fcm(Bench.fcmUpdate).status == 404)
        let again = try bench.start()
        #expect(again.codes.count == 1)
        let commands = try bench.drain().commands
        #expect(commands.map(\.kind) == [.start, .end, .start])
        #expect(commands[2].run > commands[1].run)
    }
}
