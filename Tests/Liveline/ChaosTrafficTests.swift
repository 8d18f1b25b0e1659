import Foundation
import JSON
import Testing
import Web

@testable import liveline

@Suite(.timeLimit(.minutes(10)))
struct ChaosTrafficTests {
    private let standIn: StandIn
    private let screen = Screen()
    private let book = Shared(ChaosBook())
    private let client = HTTPClient(connectionsMax: 8)

    init() throws {
        standIn = try StandIn()
    }

    private var parameters: ChaosParameters {
        var parameters = ChaosParameters()
        parameters.seconds = 1
        parameters.rate = 200
        parameters.activities = 3
        return parameters
    }

    private func traffic(_ accepted: @escaping (ChaosNumber, String) -> Void = { _, _ in }) -> ChaosTraffic {
        let setup = LoadSetup(
            loop: CallLoop(), door: standIn.door, control: standIn.control, app: LoadApp(),
            progress: Progress(screen.console), name: "c")
        return ChaosTraffic(parameters, book: book, setup: setup, client: client, accepted: accepted)
    }

    private func run(_ traffic: ChaosTraffic, until condition: () -> Bool) {
        let holds = Poller(standIn.servers + [client, traffic]).run(
            timeoutMilliseconds: 20_000, until: condition)
        #expect(holds)
    }

    /// The messages of each activity in the order in which the door got them.
    private var steps: [String: [Int]] {
        var steps: [String: [Int]] = [:]
        for call in standIn.calls {
            let notification = call.body["notifications"]?.elements?.first
            let number = notification?["live_activity"]?["content-state"]?["n"]?.int64 ?? -1
            let activity = notification?["live_activity_id"]?.string ?? ""
            steps[activity, default: []].append(ChaosNumber(packed: Int(number)).step)
        }
        return steps
    }

    @Test func `each activity starts, changes in order, ends, and another follows`() {
        var codes: [String] = []
        let traffic = traffic { codes.append($1) }
        run(traffic) { codes.count == 200 }
        #expect(book.value.tally.sent == 200)
        #expect(book.value.tally.accepted == 200)
        #expect(steps.count > 3)
        #expect(traffic.offered == 200)
        for (activity, steps) in steps { #expect(steps == Array(0..<steps.count), "\(activity)") }
        #expect(traffic.running.count <= 3)
        #expect(traffic.underWay == 0)
    }

    @Test func `a call that is not taken goes again under its key until it is`() {
        standIn.refusals = 3
        let traffic = traffic()
        run(traffic) { book.value.tally.accepted == 200 }
        #expect(traffic.busy.values.reduce(0, +) == 3)
        #expect(standIn.idempotencyKeys.count == 203)
        #expect(Set(standIn.idempotencyKeys).count == 200)
        #expect(book.value.breaches == [])
    }

    @Test func `a refusal gives the activity up, and is a breach where no token has changed`() {
        standIn.refusal = (200, #"{"status_code":210,"status_message":"not running"}"#)
        let traffic = traffic()
        run(traffic) { book.value.tally.refused > 2 }
        traffic.isHeld = true
        #expect(book.value.breaches.first?.contains(": not running") == true)
    }

    @Test func `held, it makes no calls but what it is told to`() {
        let traffic = traffic()
        run(traffic) { book.value.tally.accepted >= 3 }
        traffic.isHeld = true
        run(traffic) { traffic.underWay == 0 }
        let sent = book.value.tally.sent
        traffic.update()
        run(traffic) { traffic.underWay == 0 }
        #expect(book.value.tally.sent == sent + traffic.running.count)
    }

    @Test func `only activities of one phone have tokens that change`() {
        let traffic = traffic()
        run(traffic) { book.value.tally.accepted >= 3 }
        #expect((0..<10).allSatisfy { pick in traffic.straying(pick).map { $0.hardwareID == "c-4" } ?? true })
        #expect(traffic.running.map(\.hardwareIDs.count).max() == 3)
    }

    @Test func `what is kept of a log are its last lines`() {
        let log = LogTail()
        for number in 0..<(LogTail.linesMax + 2) { log.sink(Array("\(number)\n".utf8)) }
        let lines = log.text.split(separator: "\n")
        #expect(lines.count == LogTail.linesMax)
        #expect(lines.first == "2")
        #expect(lines.last == "\(LogTail.linesMax + 1)")
    }

    @Test func `a temporary directory stays when it is to be kept`() throws {
        var path = ""
        do {
            let directory = try TemporaryDirectory()
            directory.isKept = true
            path = directory.path
        }
        #expect(FileManager.default.fileExists(atPath: path))
        try FileManager.default.removeItem(atPath: path)
    }
}

struct NeighboursReportTests {
    private func report(_ alone: [Int64], _ beside: [Int64]) -> NeighboursReport {
        NeighboursReport(
            devices: 100_000, rate: 50, alone: Spread(alone), beside: Spread(beside), missing: 0,
            answers: [], fanOutMicroseconds: 6_500_000)
    }

    @Test func `the ratio is that of the 99th percentiles`() {
        let report = report([1_000, 2_000], [3_000, 5_000])
        #expect(report.ratio == 2.5)
        #expect(report.text.contains("the start: 6.5 s; 99th percentile: 2.50 times that alone"))
        #expect(String(decoding: report.json, as: UTF8.self).contains(#""ratio":2.500"#))
    }

    @Test func `without values there is none`() {
        #expect(report([], []).ratio == nil)
        #expect(report([], []).text.contains("99th percentile: - times"))
    }

    @Test func `there are so many activities that no pace holds an update back`() {
        var parameters = LoadParameters()
        parameters.scenario = .neighbours
        #expect(parameters.activityCount == 50 * 17)
        #expect(parameters.devicesPerActivity == 1)
    }
}
