import Contracts
import Service
import Testing

@testable import ingest

/// Which activities run, and what callers hear of those that do not.
@Suite struct RunTests {
    static let running = "notifications[0].live_activity_id: an activity of this id is already running"
    static let ended = "notifications[0].live_activity_id: the activity has ended"

    @Test
    func `ing-start-retried: a start that comes again is answered as the first, another one is refused`()
        throws
    {
        let bench = try Bench()
        let first = try bench.start()
        bench.advance(seconds: 1)
        #expect(try bench.start().codes == first.codes)
        let other = try bench.start(Bench.start.replacing(#""step":1"#, with: #""step":9"#))
        #expect(other.code == 210)
        #expect(other.statusMessage == RunTests.running)
        #expect(try bench.turn().commands.count == 1)
    }

    @Test func `an ended activity takes no update and no end, and its id can be used again`() throws {
        let bench = try Bench()
        try bench.start()
        #expect(try bench.end().code == 200)
        #expect(try bench.update().statusMessage == RunTests.ended)
        #expect(try bench.end().statusMessage == RunTests.ended)
        #expect(try bench.start().code == 200)
        #expect(try bench.update().code == 200)
        #expect(try bench.turn().commands.map(\.run) == [1, 1])
        try bench.hear(.taken(.command(message: 1)))
        try bench.hear(.taken(.command(message: 2)))
        let later = try bench.turn().commands
        #expect(later.map(\.kind) == [.start])
        #expect(later.map(\.run) == [3])
    }

    @Test func `after eight hours an activity takes nothing more, and after twelve it is not known`() throws {
        let bench = try Bench()
        try bench.start()
        bench.advance(seconds: 8 * 3_600 - 1)
        #expect(try bench.update().code == 200)
        bench.advance(seconds: 1)
        #expect(try bench.update().statusMessage.contains("the activity is over"))
        #expect(try bench.end().statusMessage.contains("the activity is over"))
        bench.advance(seconds: 4 * 3_600 + 1)
        _ = try bench.turn()
        #expect(try bench.update().statusMessage.contains("no activity of this id is running"))
        #expect(try bench.start().code == 200)
    }

    @Test func `another application's activity is another one`() throws {
        let bench = try Bench()
        try bench.start()
        let body = """
            {"request":{"application":"BBBBB-00002","auth":"k-other","notifications":[\(Bench.update)]}}
            """
        let reply = try bench.call("POST", "/json/1.3/updateLiveActivity", body)
        #expect(reply.statusMessage.contains("no activity of this id is running"))
    }

    @Test func `a run that nobody is left in is refused until somebody registers`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        var fact = Fact(number: 5, application: "AAAAA-00001", kind: .runEmpty, registrationSequence: 1)
        fact.run = 1
        #expect(try bench.hear(.fact(fact)) == [.noted(Noted([.fact(number: 5)]))])
        #expect(try bench.update().code == 200, "the fact is older than the token")
        fact.number = 6
        fact.registrationSequence = 2
        try bench.hear(.fact(fact))
        #expect(try bench.update().statusMessage.contains("no device shows the activity any more"))
        try bench.activityToken(Bench.tokA)
        #expect(try bench.update().code == 200)
    }

    @Test func `an empty run does not hinder a new start`() throws {
        let bench = try Bench()
        try bench.start()
        var fact = Fact(number: 1, application: "AAAAA-00001", kind: .runEmpty, registrationSequence: 0)
        fact.run = 1
        try bench.hear(.fact(fact))
        let again = try bench.start()
        #expect(again.codes.compactMap(bench.journal.codes.sequence) == [2])
    }
}

/// Runs at the Firebase door, where a token names them.
@Suite struct TokenRunTests {
    static let dead = "message.apns.live_activity_token"

    private func isDead(_ reply: HTTPReply) -> Bool {
        reply.status == 404 && reply.errorStatus == "NOT_FOUND" && reply.errorCode == "UNREGISTERED"
    }

    private func fact(_ kind: Fact.Kind, _ number: Int64, _ token: String, registration: Int64 = 0) -> Message
    {
        var fact = Fact(
            number: number, application: "AAAAA-00001", kind: kind, registrationSequence: registration)
        fact.token = token
        return .fact(fact)
    }

    @Test func `a token that nobody registered is an activity of its own for eight hours`() throws {
        let bench = try Bench()
        try bench.fcm(Bench.fcmUpdate)
        try bench.fcm(Bench.fcmUpdate)
        let commands = try bench.turn().commands
        #expect(commands.map(\.run) == [1, 1])
        #expect(commands.first?.activity == Bench.tokA)
        #expect(commands.first?.audience == .token(Bench.tokA))
        bench.advance(seconds: 8 * 3_600)
        #expect(isDead(try bench.fcm(Bench.fcmUpdate)))
    }

    @Test func `the token's case does not matter`() throws {
        let bench = try Bench()
        try bench.fcm(Bench.fcmUpdate)
        try bench.fcm(Bench.fcmUpdate.replacing(Bench.tokA, with: Bench.tokA.uppercased()))
        #expect(try bench.turn().commands.map(\.audience) == [.token(Bench.tokA), .token(Bench.tokA)])
    }

    @Test func `after an end its token is dead, until it is registered`() throws {
        let bench = try Bench()
        try bench.fcm(Bench.fcmUpdate)
        #expect(try bench.fcm(Bench.fcmEnd).status == 200)
        #expect(isDead(try bench.fcm(Bench.fcmUpdate)))
        #expect(isDead(try bench.fcm(Bench.fcmEnd)))
        try bench.activityToken(Bench.tokA, "ord-12")
        #expect(try bench.fcm(Bench.fcmUpdate).status == 200)
    }

    @Test func `an update goes to the run that its token was registered for`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        try bench.fcm(Bench.fcmUpdate)
        for sequence in [1] { try bench.hear(.taken(.command(message: Int64(sequence)))) }
        _ = try bench.turn()
        try bench.hear(.taken(.command(message: 1)))
        try bench.hear(.taken(.registration(sequence: 2, by: .tokenRegistry)))
        let update = try #require(try bench.turn().commands.last)
        #expect(update.run == 1)
        #expect(update.activity == Bench.tokA)
        #expect(try bench.end().code == 200)
        #expect(isDead(try bench.fcm(Bench.fcmUpdate)), "the whole activity has ended")
    }

    @Test func `an end for one holder leaves the others' activity running`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.activityToken(Bench.tokA)
        try bench.activityToken(Bench.tokB, device: "dev-2")
        #expect(try bench.fcm(Bench.fcmEnd).status == 200)
        #expect(isDead(try bench.fcm(Bench.fcmUpdate)))
        #expect(try bench.fcm(Bench.fcmUpdate.replacing(Bench.tokA, with: Bench.tokB)).status == 200)
        #expect(try bench.update().code == 200)
    }

    @Test(arguments: [Fact.Kind.tokenDied, .participantEnded])
    func `what the registry says of a token decides, the highest number last`(_ kind: Fact.Kind) throws {
        let bench = try Bench()
        try bench.activityToken(Bench.tokA)
        try bench.hear(fact(kind, 7, Bench.tokA, registration: 1))
        #expect(isDead(try bench.fcm(Bench.fcmUpdate)))
        try bench.hear(fact(.tokenLives, 6, Bench.tokA, registration: 1))
        #expect(isDead(try bench.fcm(Bench.fcmUpdate)), "an older fact changes nothing")
        try bench.hear(fact(.tokenLives, 8, Bench.tokA, registration: 1))
        #expect(try bench.fcm(Bench.fcmUpdate).status == 200)
    }

    @Test func `a registration lifts what was known, and older facts do not come back`() throws {
        let bench = try Bench()
        try bench.activityToken(Bench.tokA)
        try bench.hear(fact(.tokenDied, 1, Bench.tokA, registration: 1))
        try bench.activityToken(Bench.tokA)
        #expect(try bench.fcm(Bench.fcmUpdate).status == 200)
        try bench.hear(fact(.tokenDied, 2, Bench.tokA, registration: 1))
        #expect(try bench.fcm(Bench.fcmUpdate).status == 200)
        try bench.hear(fact(.tokenDied, 3, Bench.tokA, registration: 2))
        #expect(isDead(try bench.fcm(Bench.fcmUpdate)))
    }

    @Test func `a token that died is dead for starts too, and for its own application only`() throws {
        let bench = try Bench()
        try bench.hear(fact(.tokenDied, 1, Bench.startA))
        let reply = try bench.fcm(Bench.fcmStart)
        #expect(isDead(reply))
        #expect(!reply.text.contains(Bench.startA))
        #expect(try bench.fcm(Bench.fcmStart, token: "k-other", project: "other").status == 200)
        try bench.phone("setActivityPushToStartToken", #""activity_push_to_start_token":"\#(Bench.startA)""#)
        #expect(try bench.fcm(Bench.fcmStart).status == 200)
    }

    @Test func `every start is a run, but the same bytes within a minute are one`() throws {
        let bench = try Bench()
        let first = try bench.fcm(Bench.fcmStart)
        let other = try bench.fcm(Bench.fcmStart.replacing(#""step":1"#, with: #""step":9"#))
        #expect(other.status == 200)
        bench.advance(seconds: 59)
        #expect(try bench.fcm(Bench.fcmStart).text == first.text)
        bench.advance(seconds: 2)
        #expect(try bench.fcm(Bench.fcmStart).text != first.text)
        #expect(first.text != other.text)
    }
}
