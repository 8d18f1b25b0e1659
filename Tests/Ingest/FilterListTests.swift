import JSON
import Store
import Testing

@testable import ingest

@Suite struct FilterListTests {
    private func call(_ bench: Bench, _ method: String, _ members: String = "", auth: String = "k-test")
        throws -> HTTPReply
    {
        try bench.call(
            "POST", "/json/1.3/\(method)",
            #"{"request":{"auth":"\#(auth)"\#(members.isEmpty ? "" : ",")\#(members)}}"#)
    }

    @Test func `filters are listed by name with their expressions`() throws {
        let bench = try Bench()
        _ = try call(
            bench, "createFilter",
            #""name":"b","conditions":[["T","EQ",1],["T","IN",["x\""]]],"operator":"OR","expiration_date":"2030-01-31""#
        )
        let made = try call(bench, "createFilter", #""name":"a","filter_expression":"t(\"T\", not set)""#)
        _ = try call(bench, "createFilter", #""name":"o","conditions":[["T","EQ",1]]"#, auth: "k-other")
        let filters = try #require(
            try call(bench, "listFilters", #""application":"AAAAA-00001""#).json?["response"]?["filters"]?
                .elements)
        #expect(filters.map { $0["name"]?.string } == ["a", "b"])
        #expect(
            filters.map { $0["filter_expression"]?.string } == [
                #"T("T", NOTSET)"#, #"(T("T", EQ, 1) + T("T", IN, ["x\""]))"#,
            ])
        #expect(filters.map { $0["expiration_date"]?.string } == [nil, "2030-01-31"])
        #expect(filters.map { $0["application"]?.string } == ["AAAAA-00001", "AAAAA-00001"])
        #expect(filters.first?["code"]?.string == made.json?["response"]?["code"]?.string)
    }

    @Test func `an expired filter is not listed`() throws {
        let bench = try Bench()
        _ = try call(
            bench, "createFilter",
            #""name":"f","conditions":[["T","EQ",1]],"expiration_date":"2023-11-14""#)
        #expect(try call(bench, "listFilters").json?["response"]?["filters"]?.elements?.count == 1)
        bench.advance(seconds: 86_400)
        #expect(try call(bench, "listFilters").json?["response"]?["filters"]?.elements?.count == 0)
    }

    @Test(arguments: [(filters: 3, bytes: 1 << 20), (filters: 100, bytes: 200)])
    func `an application has so many filters, and what has expired makes room`(filters: Int, bytes: Int)
        throws
    {
        var limits = IngestLimits()
        (limits.filtersMax, limits.filterBytesMax) = (filters, bytes)
        let bench = try Bench(limits: limits)
        func create(_ name: String, _ rest: String = "", auth: String = "k-test") throws -> HTTPReply {
            try call(
                bench, "createFilter", #""name":"\#(name)","conditions":[["T","EQ",1]]\#(rest)"#, auth: auth)
        }
        var made = 0
        while try create("f\(made)", #","expiration_date":"2023-11-14""#).statusMessage == "OK", made < 10 {
            made += 1
        }
        #expect((2...3).contains(made))
        let refused = try create("more")
        #expect(
            refused.statusMessage == "name: the application has as many filters as it may; delete some first")
        #expect(try create("more", auth: "k-other").statusMessage == "OK")
        bench.advance(seconds: 86_400)
        #expect(try create("more").statusMessage == "OK")
        let count = try bench.journal.database.first("SELECT count(*) FROM filters") { $0.int(0) }
        #expect(count == 2)
    }

    @Test func `a filter is taken away by who may, once`() throws {
        let bench = try Bench()
        _ = try call(bench, "createFilter", #""name":"f","conditions":[["T","EQ",1]]"#)
        let foreign = try call(bench, "deleteFilter", #""name":"f""#, auth: "k-other")
        #expect(foreign.statusMessage == "name: there is no such filter")
        let reply = try call(bench, "deleteFilter", #""name":"f""#)
        #expect(reply.text == #"{"status_code":200,"status_message":"OK","response":null}"#)
        #expect(try call(bench, "deleteFilter", #""name":"f""#).code == 210)
        let start = Bench.start.replacing(#""devices":["dev-1"]"#, with: #""filter":"f""#)
        #expect(try bench.start(start).code == 210)
    }

    @Test(arguments: [
        ("listFilters", #""colour":1"#, "colour: unknown member"),
        ("deleteFilter", "", "name: missing"), ("deleteFilter", #""name":"f","x":1"#, "x: unknown member"),
        (
            "compileFilter", #""filter_expression":"G(1)""#,
            "filter_expression: at byte 0: G(…) is not supported"
        ),
    ])
    func `a wrong call is refused by name`(_ method: String, _ members: String, _ message: String) throws {
        let bench = try Bench()
        #expect(try call(bench, method, members).statusMessage == message)
        #expect(try call(bench, method, members, auth: "none").statusMessage == "auth: not valid")
        #expect(try bench.call("GET", "/json/1.3/\(method)").status == 405)
    }
}
