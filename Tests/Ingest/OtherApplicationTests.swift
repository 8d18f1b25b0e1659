import Contracts
import Crypto
import JSON
import Service
import Testing

@testable import ingest

/// An application never sees or reaches another's devices, filters, activities or messages.
@Suite struct OtherApplicationTests {
    /// What only the first application has.
    private static let secrets = ["FIRST_LIVE_ACTIVITY", "TO-CANCEL", "FILTER_NAME_1", "vip", "dev-1"]
    /// The examples that name such things.
    private static let foreign = ["filter", "update", "end", "name"]
    /// Calls that concern no application.
    private static let open: Set<Operation> = [.signIn, .health, .readiness, .describe]
    private static let phones: Set<Operation> = [
        .registerDevice, .unregisterDevice, .registerUser, .setTags, .setActivityPushToStartToken,
        .setActivityToken, .getTags,
    ]

    private func rehearsal() throws -> Rehearsal {
        let rehearsal = try Rehearsal()
        try rehearsal.prepare(.deleteFilter)
        _ = try rehearsal.bench.drain()
        return rehearsal
    }

    @Test(arguments: Operation.allCases.filter { !open.contains($0) && !phones.contains($0) })
    func `another application's token reaches nothing by any call`(_ operation: Operation) throws {
        let rehearsal = try rehearsal()
        for example in operation.description.request?.examples.map(\.body) ?? [""] {
            let body = Rehearsal.body(example, token: "k-other").replacing(
                "C3F8-C3863ED4-334AD4F1", with: rehearsal.code)
            let reply = try #require(try rehearsal.call(operation, body, token: "k-other"))
            #expect(!reply.isAccepted, "\(reply.text)")
            #expect(OtherApplicationTests.secrets.allSatisfy { !reply.text.contains($0) })
        }
        #expect(try rehearsal.bench.drain().isEmpty)
        #expect(
            try rehearsal.bench.journal.filter(name: "FILTER_NAME_1", application: "AAAAA-00001", today: "")
                != nil)
        #expect(try rehearsal.bench.journal.status(2)?.cancelledBy == nil)
    }

    @Test(arguments: phones)
    func `another application's device token registers nothing and shows nothing`(_ operation: Operation)
        throws
    {
        var configuration = Bench.configuration { $0.deviceTokenDigests = [SHA256.hex("d-test")] }
        configuration.applications[1].deviceTokenDigests = [SHA256.hex("d-other")]
        let bench = try Bench(configuration)
        let example = operation.description.request?.examples.first?.body ?? ""
        for header in [[], [("Authorization", "Token d-other")], [("Authorization", "Bearer k-other")]] {
            let reply = try bench.call("POST", operation.route.path, example, header)
            #expect(reply.statusMessage == "Authorization: no valid device token")
        }
        #expect(try bench.turn().isEmpty)
    }

    @Test func `names of another application's things are names of nothing`() throws {
        let rehearsal = try rehearsal()
        let bench = rehearsal.bench
        let own = { (body: String) in
            body.replacing("AAAAA-00001", with: "BBBBB-00002").replacing("API-TOKEN", with: "k-other")
        }
        for operation in [Operation.startLiveActivity, .updateLiveActivity, .deleteFilter] {
            for (name, body) in operation.description.request?.examples ?? []
            where OtherApplicationTests.foreign.contains(name) {
                let reply = try #require(try rehearsal.call(operation, own(body), token: "k-other"))
                let said = reply.statusMessage
                #expect(
                    said.contains("there is no such filter") || said.contains("no activity of this id"),
                    "\(name)")
            }
        }
        let list = try bench.call(
            "POST", "/json/1.3/listFilters", #"{"request":{"application":"BBBBB-00002","auth":"k-other"}}"#)
        #expect(list.json?["response"]?["filters"]?.elements?.count == 0)
        let messages = try bench.call(
            "POST", "/api/v2/messages:list", #"{"filters":{"messages_codes":["\#(rehearsal.code)"]}}"#,
            [("Authorization", "k-other")])
        #expect(messages.text == #"{"items":[],"total":0}"#)
        let bearer = [("Authorization", "Bearer k-other")]
        for path in [
            "BBBBB-00002/activities/FIRST_LIVE_ACTIVITY", "AAAAA-00001/activities/FIRST_LIVE_ACTIVITY",
        ] {
            #expect(try bench.call("GET", "/v1/applications/\(path)", "", bearer).status == 404)
        }
        #expect(try bench.drain().isEmpty)
    }

    @Test func `what is asked of other services is asked for the caller's application`() throws {
        let bench = try Bench()
        let tags = #"{"request":{"application":"BBBBB-00002","auth":"k-other","hwid":"dev-1"}}"#
        #expect(try bench.ask("POST", "/json/1.3/getTags", tags).query.application == "BBBBB-00002")
        let filter = #"{"request":{"auth":"k-other","filter_expression":"T(\"level\", EQ, \"vip\")"}}"#
        #expect(try bench.ask("POST", "/json/1.3/compileFilter", filter).query.application == "BBBBB-00002")
    }

    @Test func `a token that is dead for one application is alive for another`() throws {
        let bench = try Bench()
        var fact = Fact(number: 1, application: "AAAAA-00001", kind: .tokenDied, registrationSequence: 0)
        fact.token = Bench.tokA
        try bench.hear(.fact(fact))
        #expect(try bench.fcm(Bench.fcmUpdate).errorCode == "UNREGISTERED")
        #expect(try bench.fcm(Bench.fcmUpdate, token: "k-other", project: "other").status == 200)
        #expect(try bench.turn().commands.map(\.application) == ["BBBBB-00002"])
    }

    @Test func `the same key of two applications stands for two calls`() throws {
        let bench = try Bench()
        let key = [("idempotency-key", "k1")]
        func pause(_ application: String, _ token: String) throws -> HTTPReply {
            try bench.call(
                "POST", "/v1/applications/\(application)/pause", "",
                key + [("Authorization", "Bearer \(token)")])
        }
        let first = try pause("AAAAA-00001", "k-test")
        let second = try pause("BBBBB-00002", "k-other")
        #expect(second.json?["application"]?.string == "BBBBB-00002")
        #expect(first.json?["code"]?.string != second.json?["code"]?.string)
        #expect(try pause("AAAAA-00001", "k-other").status == 404)
    }
}

/// How tokens are kept and compared.
@Suite struct AccessTests {
    @Test func `tokens are known by their digests alone`() {
        var application = Configuration.Application(code: "A", bundleID: "b")
        application.apiTokenDigests = [SHA256.hex("one"), SHA256.hex("two")]
        let access = Access([application])
        for token in ["one", "two"] { #expect(access.admits(apiToken: token, to: application)) }
        for token in ["", "on", "onee", "One", SHA256.hex("one")] {
            #expect(!access.admits(apiToken: token, to: application))
        }
        #expect(!String(describing: access).contains("\"one\""))
    }
}
