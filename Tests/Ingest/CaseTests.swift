import Contracts
import JSON
import Testing

@testable import ingest

/// Cases that are about what callers hear.
@Suite struct CaseTests {
    @Test func `ing-error-kind-clear: only a dead token is called unregistered`() throws {
        let bench = try Bench()
        #expect(try bench.activityToken(Bench.tokA).code == 200)
        let unknown = try bench.fcm(
            Bench.fcmUpdate.replacing(#""token":"reg-1""#, with: #""token":"reg-1","key":1"#))
        #expect(unknown.status == 400)
        #expect(unknown.errorStatus == "INVALID_ARGUMENT")
        #expect(unknown.violations == ["message.key: unknown member"])
        #expect(!unknown.text.contains("FcmError"))
        #expect(try bench.journal.token(Bench.tokA, application: "AAAAA-00001")?.mark == nil)
        #expect(try bench.fcm(Bench.fcmUpdate).status == 200)

        try died(bench)
        let dead = try bench.fcm(Bench.fcmUpdate)
        #expect(dead.status == 404)
        #expect(dead.errorStatus == "NOT_FOUND")
        #expect(dead.errorCode == "UNREGISTERED")

        for project in ["nowhere", "other"] {
            let reply = try bench.fcm(Bench.fcmUpdate, project: project)
            #expect([403, 404].contains(reply.status))
            #expect(!reply.text.contains("UNREGISTERED"))
        }
    }

    private func died(_ bench: Bench) throws {
        var fact = Fact(number: 1, application: "AAAAA-00001", kind: .tokenDied, registrationSequence: 99)
        fact.token = Bench.tokA
        try bench.hear(.fact(fact))
    }

    @Test func `ing-registration-token-unknown: the activity's token decides, and one target is needed`()
        throws
    {
        let bench = try Bench()
        let body = Bench.fcmUpdate.replacing("reg-1", with: "reg-never-seen")
        #expect(try bench.fcm(body).status == 200)
        #expect(try bench.turn().commands.map(\.audience) == [.token(Bench.tokA)])
        let missing = try bench.fcm(Bench.fcmUpdate.replacing(#""token":"reg-1","#, with: ""))
        #expect(missing.status == 400)
        #expect(missing.violations == ["message.token: missing; exactly one of token and fid is needed"])
        try died(bench)
        #expect(try bench.fcm(Bench.fcmUpdate).errorCode == "UNREGISTERED")
    }
}
