import Contracts
import JSON
import Service
import Testing
import Web

@testable import liveline

@Suite(.timeLimit(.minutes(10)))
struct LoadRunTests {
    private let standIn: StandIn
    private let screen = Screen()

    init() throws {
        standIn = try StandIn()
    }

    private func run(_ parameters: LoadParameters) throws -> LoadReport {
        try LoadRun(
            parameters, door: standIn.door, control: standIn.control, app: LoadApp(),
            configuration: Configuration(), loop: standIn.loop(), progress: Progress(screen.console)
        ).run()
    }

    private var small: LoadParameters {
        var parameters = LoadParameters()
        parameters.activities = 10
        parameters.rate = 200
        parameters.seconds = 1
        parameters.settleSeconds = 60
        parameters.restSeconds = 0
        return parameters
    }

    @Test func `orders go to all activities in turn, by the clock`() throws {
        let report = try run(small)
        #expect(report.sent == 200)
        #expect(report.answers.accepted == 200)
        #expect(report.outcomes.delivered == 200)
        #expect(report.settled == 200)
        #expect(report.pushes == 200)
        #expect(report.missing == 0)
        #expect(report.repeated == 0)
        #expect(report.seconds >= 0.99)
        #expect(report.arrivalTimes?.count == 200)
        #expect(report.usage.lines.isEmpty)
        let starts = standIn.calls.filter { $0.method == "startLiveActivity" }
        #expect(starts.count == 10)
        let devices = starts.compactMap {
            $0.body["notifications"]?.elements?.first?["devices"]?.elements?.first?.string
        }
        #expect(Set(devices).count == 10)
    }

    @Test func `an activity's updates are as many as its turn comes`() throws {
        _ = try run(small)
        var counts: [String: Int] = [:]
        for call in standIn.calls where call.method == "updateLiveActivity" {
            let id = call.body["notifications"]?.elements?.first?["live_activity_id"]?.string ?? ""
            counts[id, default: 0] += 1
        }
        #expect(counts.count == 10)
        #expect(counts.values.allSatisfy { $0 == 20 })
    }

    @Test func `a fan-out starts by a filter and counts an arrival for each device`() throws {
        var parameters = small
        parameters.scenario = .fanOut
        parameters.devices = 7
        standIn.copies = 7
        let report = try run(parameters)
        #expect(standIn.calls.map(\.method) == ["createFilter", "startLiveActivity", "updateLiveActivity"])
        #expect(report.sent == 1)
        #expect(report.pushes == 7)
        #expect(report.missing == 0)
        #expect(report.repeated == 0)
    }

    @Test func `what arrives more than once is counted`() throws {
        standIn.copies = 2
        let report = try run(small)
        #expect(report.pushes == 400)
        #expect(report.repeated == 200)
    }

    @Test func `what never arrives is missing`() throws {
        standIn.delivers = false
        var parameters = small
        parameters.settleSeconds = 1
        let report = try run(parameters)
        #expect(report.missing == 10)
        #expect(report.arrivalTimes == nil)
        #expect(report.text.contains("the newest state of 10 activities did not arrive everywhere in time"))
    }

    @Test func `what is not settled in time is told`() throws {
        standIn.settles = false
        var parameters = small
        parameters.rate = 20
        parameters.settleSeconds = 1
        let report = try run(parameters)
        #expect(report.unsettled == 20)
        #expect(report.settled == 0)
    }

    @Test func `refused updates are counted and neither sent again nor waited for`() throws {
        standIn.refusal = (200, #"{"status_code":210,"status_message":"no"}"#)
        let report = try run(small)
        #expect(report.answers.refused == 200)
        #expect(report.answers.reasons == ["refused: no"])
        #expect(report.missing == 0)
        #expect(report.settled == 0)
    }

    @Test func `without a drill what is busy is not sent again`() throws {
        standIn.refusals = 5
        let report = try run(small)
        #expect(report.answers.busy == 5)
        #expect(report.answers.accepted == 195)
    }

    @Test func `in a drill it goes again under the same key as long as nothing newer was sent`() throws {
        standIn.refusals = 3
        let client = HTTPClient(connectionsMax: 4)
        let sender = OpenLoopSender(
            OpenLoop(rate: 100, count: 4), activities: 4, client: client, retryMilliseconds: 20
        ) { number, activity in
            standIn.door.request(
                LiveActivityCall(.update, activity: "a\(activity)", state: LoadSetup.state(number)),
                idempotencyKey: "key-\(number)")
        }
        let members: [any Pollable] = standIn.servers + [client, sender]
        let isDone = Poller(members).run(timeoutMilliseconds: 60_000) { sender.isDone }
        #expect(isDone)
        #expect(sender.log.answers.accepted == 4)
        #expect(sender.log.answers.busy == 0)
        #expect(sender.log.answers.retried == 3)
        #expect(standIn.idempotencyKeys.count == 7)
        #expect(Set(standIn.idempotencyKeys).count == 4)
    }

    @Test func `progress is told in lines where nobody watches`() throws {
        _ = try run(small)
        #expect(screen.remarks.contains("phones register: 20"))
        #expect(screen.remarks.contains("activities become active: 10"))
        #expect(screen.remarks.contains("sent 200, accepted 200, not accepted 0, pushes 200"))
        #expect(screen.remarks.last == "messages settled: 200 of 200")
        #expect(!screen.remarks.contains("messages settled: 0 of 200"))
    }

    @Test func `a deployment that is not there is an error with its address`() throws {
        let loop = CallLoop()
        #expect {
            _ = try LoadRun(
                small, door: standIn.door, control: SimulatorControl(url: "http://127.0.0.1:1"),
                app: LoadApp(),
                configuration: Configuration(), loop: loop, progress: Progress(screen.console)
            ).run()
        } throws: {
            let failure = $0 as? CommandFailure
            return failure?.code == .unavailable
                && failure?.messages.first?.hasPrefix("http://127.0.0.1:1/counters: ") == true
        }
    }
}

struct ProgressTests {
    @Test func `on a terminal one line changes, and others get lines of their own`() {
        let screen = Screen(isWatched: true)
        let progress = Progress(screen.console)
        progress.show("one", nowMilliseconds: 0)
        progress.show("two", nowMilliseconds: 499)
        progress.show("three", nowMilliseconds: 500)
        progress.say("end")
        #expect(screen.remarks == ["\rone\u{1B}[K", "\rthree\u{1B}[K", "\r\u{1B}[K", "end"])
    }

    @Test func `elsewhere a line comes each 5 seconds`() {
        let screen = Screen()
        let progress = Progress(screen.console)
        for second in 0..<11 { progress.show("\(second)", nowMilliseconds: Int64(second) * 1_000) }
        #expect(screen.remarks == ["0", "5", "10"])
    }

    @Test(arguments: [
        ("ingest.1 info ready\n", 0), ("ingest.1 warning x\n", 1), ("ingest.1 error x\n", 1),
        ("no log line\n", 1),
        ("\n", 1),
    ])
    func `only grave lines of the services are shown`(line: String, count: Int) {
        let screen = Screen()
        Progress(screen.console).graveLines(Array(line.utf8))
        #expect(screen.remarks.count == count)
    }
}
