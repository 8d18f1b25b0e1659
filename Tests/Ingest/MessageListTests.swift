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
                == #"{"items":[{"code":"\#(code)","created_date":"2023-11-14 22:13:20","send_date":"2023-11-14 22:13:20","status":"done","platforms":["IOS"],"source":"API","metrics":[{"platform":"IOS","sends":3,"errors":2}]}],"total":1}"#
        )
    }

    @Test func `a message that is lost is an error`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        try bench.hear(.taken(.command(message: 1)))
        #expect(try bench.journal.markLost(1, atMilliseconds: bench.now.wall))
        let reply = try list(bench, #""messages_codes":["\#(code)"]"#, #","params":{"with_metrics":true}"#)
        let item = reply.json?["items"]?.elements?.first
        #expect(item?["status"]?.string == "done")
        #expect(item?["metrics"]?.elements?.first?["errors"]?.int64 == 1)
    }

    @Test(arguments: [
        (#","source":"API""#, 1), (#","source":"CP""#, 0), (#","platforms":[]"#, 1),
        (#","platforms":["IOS"]"#, 1),
        (#","platforms":["ANDROID"]"#, 0),
        (#","date_range":{"date_from":"2023-11-14","date_to":"2023-11-14"}"#, 1),
        (#","date_range":{"date_from":"2023-11-15","date_to":"2100-01-01"}"#, 0), (#","date_range":null"#, 1),
    ])
    func `days, source and platforms narrow them down`(_ filters: String, _ count: Int64) throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        let reply = try list(bench, #""messages_codes":["\#(code)"]\#(filters)"#)
        #expect(reply.json?["total"]?.int64 == count)
    }

    @Test func `pages, details and the request around it are as documented`() throws {
        let bench = try Bench()
        let codes = try (1...3).compactMap {
            try bench.start(Bench.start.replacing("ord-12", with: "o\($0)")).codes.first
        }
        let wanted = #""filters":{"messages_codes":["\#(codes.joined(separator: #"",""#))"]}"#
        let body = #"{"request":{\#(wanted),"params":{"with_details":true},"per_page":2,"page":2}}"#
        let reply = try bench.call("POST", "/api/v2/messages:list", body, [("Authorization", "k-test")])
        #expect(reply.json?["total"]?.int64 == 3)
        #expect(reply.json?["items"]?.elements?.map { $0["code"]?.string } == [codes[2]])
        let details = reply.json?["items"]?.elements?.first?["push_info"]?["details"]
        #expect(details?["live_activity_id"]?.string == "o3")
        #expect(details?["event"]?.string == "start")
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
        ("k-test", #""messages_codes":["x"],"source":1"#, 400, "filters.source: must be a string"),
        ("k-test", #""messages_codes":["x"],"campaign":"c""#, 400, "filters.campaign: unknown member"),
        (
            "k-test", #""messages_codes":["x"],"messages_ids":[1]"#, 400,
            "filters.messages_ids: unknown member"
        ),
        (
            "k-test", #""messages_codes":["x"],"date_range":{"date_from":"2023-11-14"}"#, 400,
            "filters.date_range.date_to: missing"
        ),
        (
            "k-test",
            #""messages_codes":["x"],"date_range":{"date_from":"14.11.2023","date_to":"2023-11-14"}"#, 400,
            "filters.date_range.date_from: must be a date, YYYY-MM-DD"
        ),
        (
            "k-test",
            #""messages_codes":["x"],"date_range":{"date_from":"2023-11-15","date_to":"2023-11-14"}"#, 400,
            "filters.date_range.date_to: must not lie before date_from"
        ),
    ])
    func `a wrong call is refused by name`(_ auth: String, _ filters: String, _ status: Int, _ error: String)
        throws
    {
        let reply = try list(try Bench(), filters, auth: auth)
        #expect(reply.status == status)
        #expect(reply.json?["error"]?.string == error)
    }
}
