import Contracts
import JSON
import Service
import Testing

@testable import Web
@testable import liveline

@Suite(.timeLimit(.minutes(10)))
struct CommandsTests {
    private let screen = Screen()
    private let accepted: HTTPStub.Answer = (200, #"{"status_code":200,"response":{"Messages":["M-1"]}}"#)

    /// Runs a command line; its faults are remarks.
    private func run(_ words: String...) -> Int32 { Subcommands.run(words, on: screen.console) }

    // MARK: send

    private func send(_ stub: HTTPStub, _ more: String...) -> Int32 {
        let words = ["send", "update", "--url", stub.url, "--activity", "a", "--state", #"{"n":1.0}"#]
        return Subcommands.run(words + more, on: screen.console)
    }

    @Test func `send prints the code of the message`() {
        let stub = HTTPStub(["POST /json/1.3/updateLiveActivity": [accepted]])
        #expect(send(stub) == 0)
        #expect(screen.output == ["M-1"])
        #expect(stub.requests.first?.contains(#""content-state":{"n":1.0}"#) == true)
    }

    @Test func `send waits until the message is settled`() {
        let stub = HTTPStub([
            "POST /json/1.3/updateLiveActivity": [accepted],
            "GET /v1/messages/M-1": [
                (200, #"{"state":"accepted"}"#), (200, #"{"state":"taken"}"#),
                (200, #"{"state":"settled","outcomes":{"delivered":3}}"#),
            ],
        ])
        #expect(send(stub, "--wait") == 0)
        #expect(screen.output == ["M-1", "settled: delivered 3"])
        #expect(stub.requests.count == 4)
    }

    @Test func `send gives up waiting with a code of its own`() {
        let stub = HTTPStub([
            "POST /json/1.3/updateLiveActivity": [accepted],
            "GET /v1/messages/M-1": [(200, #"{"state":"taken"}"#)],
        ])
        #expect(send(stub, "--wait", "--timeout", "1") == 75)
        #expect(screen.remarks == ["liveline send: M-1: not settled after 1 s; taken"])
    }

    @Test(arguments: [
        (200, #"{"status_code":210,"status_message":"no such activity"}"#, 65, "refused: no such activity"),
        (503, #"{"status_code":503,"status_message":"full"}"#, 75, "full"),
        (404, "", 65, "refused: HTTP 404"),
    ])
    func `send tells refused and later apart`(status: Int, body: String, code: Int32, remark: String) {
        let stub = HTTPStub(["POST /json/1.3/updateLiveActivity": [(status, body)]])
        #expect(send(stub) == code)
        #expect(screen.remarks == ["liveline send: \(remark)"])
    }

    @Test func `a door that is not there is told`() {
        #expect(run("send", "end", "--url", "http://127.0.0.1:1", "--activity", "a", "--state", "{}") == 75)
        #expect(screen.remarks.first?.hasPrefix("liveline send: connectionFailed: ") == true)
    }

    // MARK: status

    @Test func `status of a message is one line`() {
        let stub = HTTPStub(["GET /v1/messages/M-1": [(200, #"{"state":"settled","outcomes":{"failed":2}}"#)]]
        )
        #expect(run("status", "M-1", "--url", stub.url) == 0)
        #expect(screen.output == ["settled: failed 2"])
    }

    @Test func `status of a message that is not there names it`() {
        let stub = HTTPStub(["GET /v1/messages/M-1": [(404, #"{"error":"there is no such message"}"#)]])
        #expect(run("status", "M-1", "--url", stub.url) == 65)
        #expect(screen.remarks == ["liveline status: M-1: there is no such message"])
    }

    @Test func `status of services that do not run is bad`() throws {
        let directory = try TemporaryDirectory()
        #expect(run("status", "--run", directory.path) == 1)
        let lines = screen.output.first?.split(separator: "\n").map(String.init) ?? []
        #expect(lines.count == 6)
        #expect(lines.dropFirst().allSatisfy { $0.contains("not running") })
    }

    // MARK: phones

    @Test func `phones are created with what the options say`() throws {
        let stub = HTTPStub(["POST /phones": [(201, #"{"count":3,"first":"p-1","last":"p-3"}"#)]])
        let tags = #"{"city":"Paris"}"#
        #expect(run("phones", "create", "3", "--control", stub.url, "--prefix", "p-", "--tags", tags) == 0)
        #expect(screen.output == ["p-1 to p-3"])
        let body = try JSONDocument(text: String(stub.requests[0].dropFirst("POST /phones ".count))).root
        #expect(body["count"]?.int64 == 3)
        #expect(body["prefix"]?.string == "p-")
        #expect(body["application"]?.string == TrialSetup.application)
        #expect(body["deviceToken"]?.string == TrialSetup.deviceToken)
        #expect(body["tags"]?["city"]?.string == "Paris")
    }

    @Test func `phones are summed up`() {
        let stub = HTTPStub([
            "GET /phones": [
                (200, #"{"phones":2000,"active":7,"states":[{"count":2,"contentState":{"n":1.0}}]}"#)
            ]
        ])
        #expect(run("phones", "--control", stub.url) == 0)
        let lines = screen.output.first?.split(separator: "\n").map(String.init) ?? []
        #expect(lines.first == "phones      2,000")
        #expect(lines.contains("active          7"))
        #expect(lines.last == #"2 show {"n":1.0}"#)
    }

    @Test(arguments: [
        (["rotate", "p 1"], #"POST /phones/p 1/rotate {}"#),
        (["rotate", "p", "--activity", "o"], #"POST /phones/p/rotate {"activity":"o"}"#),
        (["dismiss", "p", "--activity", "o"], #"POST /phones/p/dismiss {"activity":"o"}"#),
    ])
    func `what a person does is passed on`(words: [String], request: String) {
        let path = request.split(separator: " {")[0]
        let stub = HTTPStub([String(path): [(200, #"{"hwid":"p","pushes":1}"#)]])
        #expect(Subcommands.run(["phones"] + words + ["--control", stub.url], on: screen.console) == 0)
        #expect(screen.output == ["p: 1 pushes, 0 twice"])
        #expect(stub.requests == [request])
    }

    @Test func `what the simulator refuses is told`() {
        let stub = HTTPStub(["GET /phones/p": [(404, #"{"error":"no such phone"}"#)]])
        #expect(run("phones", "show", "p", "--control", stub.url) == 65)
        #expect(screen.remarks == ["liveline phones: no such phone"])
    }

    // MARK: up

    @Test func `up refuses a configuration with faults before it starts anything`() throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/liveline.json"
        try TextFile.write(#"{"http":{"listen":"x"},"runDirectory":""}"#, to: file)
        #expect(run("up", "--config", file) == 78)
        #expect(screen.remarks.count == 2)
        #expect(screen.remarks[0].hasPrefix("liveline up: http.listen: "))
    }
}

struct ServiceStateTests {
    private func ask(_ answers: [String: (Int, String)]) -> ServiceState {
        ServiceState.ask(InstanceName(.ingest), Configuration()) { request in
            guard let answer = answers.first(where: { request.url.hasSuffix($0.key) })?.value else {
                throw HTTPClientError(.connectionFailed)
            }
            return HTTPClientResponse(status: answer.0, headers: [:], body: Array(answer.1.utf8))
        }
    }

    @Test(arguments: [(200, ServiceState.Readiness.ready), (503, .notReady)])
    func `readiness is what the service answers`(status: Int, readiness: ServiceState.Readiness) {
        #expect(ask(["/readyz": (status, "")]).readiness == readiness)
    }

    @Test func `an instance that ended beside another is missed by nobody, and one alone is`() throws {
        let directory = try TemporaryDirectory()
        var configuration = Configuration()
        configuration.runDirectory = directory.path
        for name in ["ingest.1.admin", "segmenter.1.admin", "segmenter.2.admin"] {
            try TextFile.write("", to: "\(directory.path)/\(name)")
        }
        let second = HTTPStub(
            ["GET /readyz": [(200, "")], "GET /metrics": [(200, "")]],
            at: .unix(path: "\(directory.path)/ingest.2.admin"))
        let ingest = ServiceState.askAll(.ingest, configuration)
        #expect(ingest.map(\.instance) == [InstanceName(.ingest, 2)])
        #expect(ServiceState.isReady(ingest))
        withExtendedLifetime(second) {}
        let segmenter = ServiceState.askAll(.segmenter, configuration)
        #expect(segmenter == [ServiceState(instance: InstanceName(.segmenter), readiness: .absent)])
        #expect(!ServiceState.isReady(segmenter))
    }

    @Test func `who stands by is no fault as long as another works`() {
        let standby = ask(["/readyz": (503, "standing by: another ingest works\n")])
        #expect(standby.readiness == .standsBy)
        let other = ServiceState(instance: InstanceName(.ingest, 2), readiness: .ready)
        #expect(ServiceState.isReady([standby, other]))
        #expect(!ServiceState.isReady([standby]))
        let stuck = ServiceState(instance: InstanceName(.ingest, 2), readiness: .notReady)
        #expect(!ServiceState.isReady([standby, stuck]) && !ServiceState.isReady([other, stuck]))
        #expect(ServiceState.table([standby, other]).contains("ingest.2  ready"))
    }

    @Test func `where nobody listens no service runs`() {
        #expect(ask([:]) == ServiceState(instance: InstanceName(.ingest), readiness: .absent))
    }

    @Test func `one that listens and says nothing does not answer`() {
        let state = ServiceState.ask(InstanceName(.ingest), Configuration()) { _ in
            throw HTTPClientError(.timedOut)
        }
        #expect(state == ServiceState(instance: InstanceName(.ingest), readiness: .silent))
        #expect(ServiceState.table([state]).contains("does not answer"))
    }

    @Test func `figures come from its metrics`() {
        let metrics = """
            liveline_kept 1234
            liveline_waiting 5
            process_cpu_seconds_total 1.5
            process_resident_memory_bytes 3145728
            """
        let state = ask(["/readyz": (200, ""), "/metrics": (200, metrics)])
        #expect(
            ServiceState.table([state]) == """
                service  state   kept  waiting  CPU s   MB
                ingest   ready  1,234        5   1.50  3.0
                """)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct KillDrillTests {
    @Test func `each child is killed once, the next one only when all are ready again`() {
        let names = ["a", "b", "c"]
        let plans = names.map { ChildPlan(name: $0, path: "/bin/sleep", arguments: ["100"]) }
        let screen = Screen()
        let supervisor = Supervisor(plans, environment: [:], sink: screen.console.output)
        let drill = KillDrill(
            supervisor, names: names, durationMilliseconds: 60, progress: Progress(screen.console))
        let members: [any Pollable] = supervisor.members + [drill]
        let isDone = Poller(members).run(timeoutMilliseconds: 20_000) { drill.isDone }
        #expect(isDone)
        #expect(screen.remarks.map { $0.prefix(9) } == ["kill -9 a", "kill -9 b", "kill -9 c"])
        let ends = screen.output.filter { $0.contains("signal=9") }
        #expect(ends.count == 3)
        supervisor.stop()
        supervisor.stop()
        let isOver = Poller(supervisor.members).run(timeoutMilliseconds: 20_000) { supervisor.isOver }
        #expect(isOver)
    }
}
