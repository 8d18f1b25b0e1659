import Contracts
import JSON
import Testing

@testable import ingest

@Suite struct MessageListTests {
    private func list(_ bench: Bench, _ filters: String, _ more: String = "", auth: String = "Api k-test")
        throws -> HTTPReply
    {
        try bench.call(
            "POST", "/api/v2/messages:list", #"{"filters":{\#(filters)}\#(more)}"#, [("Authorization", auth)])
    }

    @Test(arguments: ["Api k-test", "Bearer k-test", "k-test"])
    func `messages are listed by their codes`(_ auth: String) throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        var settled = Settled(
            message: 1, revision: 1, counts: OutcomeCounts(), settledAtMilliseconds: bench.now.wall)
        settled.counts.delivered = 3
        settled.counts.failed = 2
        let codes =
            #""application":"AAAAA-00001","messages_codes":["\#(code)","0000-00000000-00000000","\#(code)"]"#
        let before = try list(bench, codes, auth: auth)
        #expect(before.status == 200)
        #expect(before.json?["items"]?.elements?.map { $0["status"]?.string } == ["processing"])
        try bench.hear(.settled(settled))
        let after = try list(bench, codes, #","params":{"with_metrics":true}"#, auth: auth)
        #expect(
            after.text
                == #"{"items":[{"code":"\#(code)","created_date":"2023-11-14 22:13:20","send_date":"2023-11-14 22:13:20","status":"done","platforms":["IOS"],"metrics":[{"platform":"IOS","sends":3,"errors":2}]}],"total":1}"#
        )
    }

    @Test func `another application's messages are not listed`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        let reply = try list(bench, #""messages_codes":["\#(code)"]"#, auth: "Bearer k-other")
        #expect(reply.text == #"{"items":[],"total":0}"#)
    }

    @Test(arguments: [
        ("Bearer none", #""messages_codes":["x"]"#, 401, "a valid bearer token is needed"),
        ("k-test", "", 400, "filters.messages_codes: missing"),
        ("k-test", #""messages_codes":[]"#, 400, "filters.messages_codes: must have 1 to 1000 elements"),
        (
            "k-test", #""messages_codes":["x"],"application":"BBBBB-00002""#, 400,
            "filters.application: not found"
        ),
        ("k-test", #""messages_codes":["x"],"source":1"#, 400, "filters.source: unknown member"),
    ])
    func `a wrong call is refused by name`(_ auth: String, _ filters: String, _ status: Int, _ error: String)
        throws
    {
        let reply = try list(try Bench(), filters, auth: auth)
        #expect(reply.status == status)
        #expect(reply.json?["error"]?.string == error)
    }
}
