import Contracts
import JSON
import Testing

@testable import Web
@testable import liveline

struct LiveActivityCallTests {
    private func body(_ call: LiveActivityCall) -> String {
        String(decoding: call.body(application: "A", auth: "k"), as: UTF8.self)
    }

    @Test func `a start says everything that it was given`() {
        var call = LiveActivityCall(.start, activity: "order-1", state: Array(#"{"n":1.0}"#.utf8))
        call.audience = .devices(["p1", "p2"])
        call.attributesType = "T"
        call.attributes = Array("{}".utf8)
        call.content = "c"
        call.title = "t"
        #expect(call.method == "startLiveActivity")
        #expect(
            body(call)
                == #"{"request":{"application":"A","auth":"k","notifications":[{"content":"c","title":"t","#
                + #""live_activity_id":"order-1","devices":["p1","p2"],"live_activity":{"event":"start","#
                + #""content-state":{"n":1.0},"attributes-type":"T","attributes":{}}}]}}"#)
    }

    @Test func `an end says when it leaves`() {
        var call = LiveActivityCall(.end, activity: "a", state: Array("{}".utf8))
        call.dismissalSeconds = 5
        #expect(call.method == "updateLiveActivity")
        #expect(
            body(call)
                == #"{"request":{"application":"A","auth":"k","notifications":[{"live_activity_id":"a","#
                + #""live_activity":{"event":"end","content-state":{},"dismissal-date":5}}]}}"#)
    }

    @Test(arguments: [
        (["--filter", "f"], LiveActivityCall.Audience.filter("f")),
        (["--devices", "a,b"], .devices(["a", "b"])),
        (["--users", "u"], .users(["u"])),
    ])
    func `send makes a call of its options`(words: [String], audience: LiveActivityCall.Audience) throws {
        let all = ["start", "--activity", "a", "--state", #" {"x":1} "#, "--type", "T"] + words
        guard case .command(let command) = try SendCommand.parse(all) else {
            Issue.record("help")
            return
        }
        let call = try command.call()
        #expect(call.audience == audience)
        #expect(call.state == Array(#"{"x":1}"#.utf8))
        #expect(call.attributes == Array("{}".utf8))
    }

    @Test(arguments: [
        (["--state", "{"], "--state: "), (["--state", "[1]"], "--state: must be object"),
        (["--state", "{}", "--alert", "7"], "--alert: must be object or string"),
    ])
    func `what is no JSON is refused by name`(words: [String], start: String) throws {
        guard case .command(let command) = try SendCommand.parse(["update", "--activity", "a"] + words) else {
            Issue.record("help")
            return
        }
        #expect {
            _ = try command.call()
        } throws: {
            ($0 as? CommandFailure)?.messages.first?.hasPrefix(start) == true
        }
    }
}

struct DoorAnswerTests {
    private func answer(_ status: Int, _ body: String) -> DoorAnswer {
        DoorAnswer(.success(HTTPClientResponse(status: status, headers: [:], body: Array(body.utf8))))
    }

    @Test func `codes are taken from the answer`() {
        let body = #"{"status_code":200,"status_message":"OK","response":{"Messages":["A-B-C"]}}"#
        #expect(answer(200, body) == .accepted(["A-B-C"]))
        #expect(answer(200, #"{"status_code":200,"status_message":"OK","response":null}"#) == .accepted([]))
    }

    @Test(arguments: [
        (200, #"{"status_code":210,"status_message":"bad"}"#, DoorAnswer.refused("bad")),
        (400, "x", .refused("HTTP 400")),
        (503, #"{"status_code":503,"status_message":"full"}"#, .busy("full")), (429, "", .busy("HTTP 429")),
    ])
    func `refusals and later are told apart`(status: Int, body: String, expected: DoorAnswer) {
        #expect(answer(status, body) == expected)
    }

    @Test func `a call that nobody takes is neither busy nor of unknown fate`() {
        let client = HTTPClient()
        var answer: DoorAnswer?
        client.send(HTTPClientRequest(url: "http://127.0.0.1:1/")) { answer = DoorAnswer($0) }
        Poller([client]).run(timeoutMilliseconds: 20_000) { answer != nil }
        guard case .unreachable(let text) = answer else { return #expect(Bool(false), "\(answer as Any)") }
        #expect(text.hasPrefix("connectionFailed: "))
    }

    @Test(arguments: ["a-b_c.~9", "\u{E9} /?"]) func `texts are safe in paths`(text: String) {
        let segment = URLText.segment(text)
        #expect(HTTPRequest(method: "GET", target: "/x/\(segment)")?.segments == ["x", text])
    }
}

struct MessageStatusTests {
    @Test func `state and outcomes are read`() throws {
        let body = #"{"code":"C","state":"settled","outcomes":{"delivered":3,"superseded":1,"expired":0}}"#
        let status = try #require(MessageStatus(Array(body.utf8)))
        #expect(status.isSettled)
        #expect(status.counts.delivered == 3)
        #expect(status.text == "settled: delivered 3, superseded 1")
    }

    @Test func `a message on its way has no counts to show`() {
        #expect(MessageStatus(Array(#"{"state":"taken"}"#.utf8))?.text == "taken")
    }

    @Test(arguments: ["", "{}", "[]", "{\"state\":1}"]) func `what is no status is none`(body: String) {
        #expect(MessageStatus(Array(body.utf8)) == nil)
    }
}

struct MetricsTextTests {
    private let text = MetricsText(
        """
        # HELP a b
        # TYPE liveline_settled_total counter
        liveline_settled_total{outcome="delivered"} 3
        liveline_settled_total{outcome="failed",reason="a \\"b\\", \\\\ \\n"} 2.5
        process_cpu_seconds_total 1.5e-2
        broken
        broken{a="b"
        """)

    @Test func `samples are summed by name and label`() {
        #expect(text.sum("liveline_settled_total") == 5.5)
        #expect(text.sum("liveline_settled_total", ["outcome": "failed"]) == 2.5)
        #expect(text.sum("liveline_settled_total", ["outcome": "expired"]) == nil)
        #expect(text.sum("process_cpu_seconds_total") == 0.015)
        #expect(text.samples.count == 3)
    }

    @Test func `escapes in labels are undone`() {
        #expect(text.samples[1].labels == ["outcome": "failed", "reason": "a \"b\", \\ \n"])
    }
}

struct PhoneViewTests {
    private let answer = """
        {"hwid":"ada","online":false,"pushes":2,"duplicates":1,
         "activities":[{"id":"o","state":"ended","token":null,"contentState":{"n":1.0}}],
         "history":[{"at":3723004,"event":"start","activity":"o","verdict":"started","contentState":{"n":0}},
                    {"at":3723005,"event":"update","activity":"o","verdict":"ignored","why":"inThePast","contentState":null}]}
        """

    @Test func `what the simulator tells is shown`() throws {
        let phone = try #require(PhoneView(try JSONDocument(text: answer).root))
        #expect(
            phone.text == """
                ada: 2 pushes, 1 twice, offline
                  o is ended, without a token: {"n":1.0}
                    01:02:03.004  o  started  {"n":0}
                    01:02:03.005  o  update ignored, inThePast\("  ")
                """)
        #expect(phone.history.map(\.isVisible) == [true, false])
    }

    @Test func `what is no phone is none`() throws {
        #expect(PhoneView(try JSONDocument(text: "{}").root) == nil)
    }
}
