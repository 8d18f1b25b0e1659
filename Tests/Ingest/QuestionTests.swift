import Contracts
import JSON
import Service
import Testing

@testable import ingest

@Suite struct QuestionTests {
    private func getTags(_ bench: Bench, _ device: String = "dev-1") throws -> (
        call: Int64, query: Query, service: Route
    ) {
        try bench.ask(
            "POST", "/json/1.3/getTags", #"{"request":{"application":"AAAAA-00001","hwid":"\#(device)"}}"#)
    }

    @Test func `a phone's tags are asked for and answered as they were set`() throws {
        let bench = try Bench()
        let (call, query, service) = try getTags(bench)
        #expect(service == .service(.segmenter))
        #expect(query.application == "AAAAA-00001")
        #expect(query.kind == .tags(device: "dev-1"))
        let replies = try bench.answer(
            query,
            .tags(values: [
                "b": .integer(7), "a": .string("x\""), "c": .number(1.5), "d": .boolean(true),
                "e": .list(["x"]),
            ]))
        #expect(replies.map(\.id) == [call])
        #expect(
            replies.first?.text
                == #"{"status_code":200,"status_message":"OK","response":{"result":{"a":"x\"","b":7,"c":1.5,"d":true,"e":["x"]}}}"#
        )
        #expect(try bench.answer(query, .tags(values: [:])).isEmpty)
    }

    @Test func `ipc-late-reply: a late answer is nobody's`() throws {
        let bench = try Bench()
        let first = try getTags(bench, "dev-1")
        bench.advance(seconds: 1)
        let second = try getTags(bench, "dev-2")
        #expect(bench.core.nextTurnMilliseconds(after: bench.now) == 1_000)
        bench.advance(seconds: 1)
        let replies = try bench.step(.turn(.boundless())).replies
        #expect(replies.map(\.id) == [first.call])
        #expect(replies.map(\.status) == [503])
        #expect(replies.first?.header("Retry-After") == "1")
        let answered = try bench.answer(second.query, .tags(values: ["n": .integer(2)]))
        #expect(answered.map(\.id) == [second.call])
        #expect(try bench.answer(first.query, .tags(values: ["n": .integer(1)])).isEmpty)
        let third = try getTags(bench, "dev-3")
        #expect(try bench.answer(third.query, .tags(values: [:])).map(\.id) == [third.call])
        #expect(bench.core.nextTurnMilliseconds(after: bench.now).map { $0 > 2_000 } ?? true)
    }

    @Test func `an answer to a former life is nobody's`() throws {
        let bench = try Bench()
        let former = try getTags(bench)
        bench.advance(seconds: 1)
        try bench.restart()
        let now = try getTags(bench)
        #expect(former.query.id != now.query.id)
        #expect(try bench.answer(former.query, .tags(values: [:])).isEmpty)
        #expect(try bench.answer(now.query, .tags(values: [:])).map(\.id) == [now.call])
    }

    @Test func `an answer of another kind is answered 503`() throws {
        let bench = try Bench()
        let (_, query, _) = try getTags(bench)
        #expect(try bench.answer(query, .count(devices: 1)).map(\.status) == [503])
    }

    @Test func `no more callers wait than may`() throws {
        let bench = try Bench()
        for _ in 0..<Questions.waitingMax { _ = try getTags(bench) }
        let reply = try bench.phone("getTags", "")
        #expect(reply.status == 503)
    }

    @Test func `a server names a phone with its own token`() throws {
        let bench = try Bench(Bench.configuration { $0.deviceTokenDigests = [] })
        let (_, query, _) = try bench.ask(
            "POST", "/json/1.3/getTags",
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","hwid":"dev-1"}}"#)
        #expect(query.kind == .tags(device: "dev-1"))
        #expect(
            try bench.phone("getTags", #""auth":"none""#).statusMessage
                == "auth: not valid for this application")
    }

    @Test func `a dry run is read as the vendor's client writes it`() throws {
        let bench = try Bench()
        let body = #"{"request": {"devices_filter": "T(\"L\", IN, [1])", "auth": "k-test"}}"#
        let (_, query, _) = try bench.ask("POST", "/json/1.3/compileFilter", body)
        #expect(
            query.kind == .audience(filter: .tag(name: "L", comparison: .oneOf, values: [.integer(1)])))
        let both = body.replacing(#""auth""#, with: #""conditions":[],"auth""#)
        #expect(
            try bench.call("POST", "/json/1.3/compileFilter", both).statusMessage
                == "conditions: only one of devices_filter and conditions")
    }

    @Test func `getTags names what it lacks`() throws {
        let bench = try Bench(Bench.configuration { $0.deviceTokenDigests = [] })
        #expect(try bench.phone("getTags", "").statusMessage == "Authorization: no valid device token")
        let open = try Bench()
        let reply = try open.call("POST", "/json/1.3/getTags", #"{"request":{"application":"AAAAA-00001"}}"#)
        #expect(reply.statusMessage == "hwid: missing")
    }

    @Test func `a dry run says how many devices a filter matches`() throws {
        let bench = try Bench()
        let (call, query, service) = try bench.ask(
            "POST", "/json/1.3/compileFilter",
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","filter_expression":"T(\"a\", eq, 1)"}}"#
        )
        #expect(service == .service(.segmenter))
        #expect(
            query.kind == .audience(filter: .tag(name: "a", comparison: .equal, values: [.integer(1)])))
        let replies = try bench.answer(query, .count(devices: 12))
        #expect(replies.map(\.id) == [call])
        #expect(replies.first?.json?["response"]?["count"]?.int64 == 12)
        #expect(
            replies.first?.json?["response"]?["filter_expression"]?.string == #"T("a", EQ, 1)"#)
    }
}
