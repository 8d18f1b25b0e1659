import Contracts
import JSON
import Testing

@testable import ingest

/// What older revisions of Pushwoosh's document had.
@Suite struct OlderSpellingTests {
    @Test func `ios_live_activity is live_activity`() throws {
        let bench = try Bench()
        #expect(
            try bench.start(Bench.start.replacing(#""live_activity":"#, with: #""ios_live_activity":"#)).code
                == 200)
        #expect(
            try bench.update(Bench.update.replacing(#""live_activity":"#, with: #""ios_live_activity":"#))
                .code == 200)
        let both = try bench.update(
            Bench.update.replacing(#""live_activity":"#, with: #""ios_live_activity":{},"live_activity":"#))
        #expect(
            both.statusMessage
                == "notifications[0].ios_live_activity: only one of live_activity and ios_live_activity")
    }

    private static func update(_ tokens: String, id: String = "") -> String {
        Bench.update.replacing(
            #""live_activity_id":"ord-12""#, with: #"\#(id)"live_activity_push_tokens":\#(tokens)"#)
    }

    @Test func `an update goes to the holders of the tokens given`() throws {
        let bench = try Bench()
        let tokens = #"["\#(Bench.tokA.uppercased())","\#(Bench.tokB)","\#(Bench.tokA)"]"#
        let reply = try bench.update(OlderSpellingTests.update(tokens, id: #""live_activity_id":"x","#))
        #expect(reply.codes.count == 2)
        let commands = try bench.turn().commands
        #expect(commands.map(\.audience) == [.token(Bench.tokA), .token(Bench.tokB)])
        #expect(commands.map(\.activity) == [Bench.tokA, Bench.tokB])
        #expect(commands.map(\.kind) == [.update, .update])
    }

    @Test(arguments: [
        (#"[]"#, "notifications[0].live_activity_push_tokens: must have 1 to 1000 elements"),
        (#""aa""#, "notifications[0].live_activity_push_tokens: must be an array"),
        (
            #"["abc"]"#,
            "notifications[0].live_activity_push_tokens[0]: must be an even number of hex digits, from 2 to 1024"
        ),
    ])
    func `wrong tokens are refused by name`(_ tokens: String, _ message: String) throws {
        let bench = try Bench()
        #expect(try bench.update(OlderSpellingTests.update(tokens)).statusMessage == message)
        #expect(try bench.turn().isEmpty)
    }

    @Test func `one call is for a thousand activities and tokens at most`() throws {
        let bench = try Bench()
        let tokens = (0..<501).map { "\"\(String(format4: $0))\"" }.joined(separator: ",")
        let update = OlderSpellingTests.update("[\(tokens)]")
        let reply = try bench.notify("updateLiveActivity", update, update)
        #expect(
            reply.statusMessage == "notifications: must be for at most 1000 activities and tokens")
    }

    @Test func `a start takes no tokens`() throws {
        let bench = try Bench()
        let start = Bench.start.replacing(
            #""live_activity_id""#, with: #""live_activity_push_tokens":["aa"],"live_activity_id""#)
        #expect(
            try bench.start(start).statusMessage
                == "notifications[0].live_activity_push_tokens: unknown member")
    }
}

extension String {
    fileprivate init(format4 number: Int) {
        let digits = String(number, radix: 16)
        self = String(repeating: "0", count: 4 - digits.count) + digits
    }
}
