import Contracts
import JSON
import Testing

@testable import liveline

struct OpenLoopTests {
    @Test(arguments: [
        (1, 0, 0), (1, 3, 3_000_000), (500, 1, 2_000), (500, 500, 1_000_000), (3, 1, 333_333),
        (3, 3, 1_000_000),
    ])
    func `sends are due by the clock`(rate: Int64, number: Int64, due: Int64) {
        #expect(OpenLoop(rate: rate, count: 1_000).dueMicroseconds(number) == due)
    }

    @Test func `an uneven rate does not drift`() {
        let schedule = OpenLoop(rate: 7, count: 7 * 86_400)
        #expect(schedule.durationMicroseconds == 86_400 * 1_000_000)
    }
}

struct SpreadTests {
    @Test func `nothing has no spread`() {
        #expect(Spread([]) == nil)
    }

    @Test func `one value is all of it`() {
        let spread = Spread([7])
        #expect(spread?.median == 7 && spread?.ninetyNinth == 7 && spread?.greatest == 7)
    }

    @Test func `percentiles are values that occur, by nearest rank`() {
        let spread = Spread((1...1_000).map { Int64($0) }.shuffled())
        #expect(spread?.median == 500)
        #expect(spread?.ninetieth == 900)
        #expect(spread?.ninetyNinth == 990)
        #expect(spread?.greatest == 1_000)
        #expect(spread?.count == 1_000)
    }

    @Test(arguments: [(50, 2), (75, 3), (76, 4), (100, 4), (1, 1), (0, 1)])
    func `ranks of four values`(percent: Int, value: Int64) {
        #expect(Spread.percentile(percent, of: [1, 2, 3, 4]) == value)
    }
}

struct SendLogTests {
    private func log(activities: [Int]) -> SendLog {
        var log = SendLog()
        for activity in activities {
            _ = log.send(activity: activity, wallMicroseconds: 1_000, latenessMicroseconds: 1)
        }
        return log
    }

    @Test func `the newest accepted send of each activity must arrive`() {
        var log = log(activities: [0, 1, 0])
        for number in 0..<3 { log.answered(number, .accepted(["C\(number)"]), wallMicroseconds: 1_500) }
        #expect(log.unanswered == 0)
        #expect(log.codes == ["C0", "C1", "C2"])
        #expect(log.newestAccepted == [0: 2, 1: 1])
        #expect(log.missing(devices: 1) == 2)
        log.arrived(0, atMicroseconds: 2_000)
        log.arrived(1, atMicroseconds: 2_000)
        #expect(log.missing(devices: 1) == 1)
        log.arrived(2, atMicroseconds: 3_000)
        #expect(log.missing(devices: 1) == 0)
        #expect(log.answerMicroseconds == [500, 500, 500])
        #expect(log.arrivalMicroseconds == [1_000, 1_000, 2_000])
    }

    @Test func `with many devices as many arrivals are expected`() {
        var log = log(activities: [0])
        log.answered(0, .accepted(["C"]), wallMicroseconds: 1_000)
        log.arrived(0, atMicroseconds: 1_000)
        #expect(log.missing(devices: 2) == 1)
        log.arrived(0, atMicroseconds: 1_000)
        #expect(log.missing(devices: 2) == 0)
    }

    @Test func `what was not accepted is counted with one reason of each kind`() {
        var log = log(activities: [0, 1, 2, 3, 4])
        log.answered(0, .refused("no"), wallMicroseconds: 0)
        log.answered(1, .refused("no"), wallMicroseconds: 0)
        log.answered(2, .busy("later"), wallMicroseconds: 0)
        log.answered(3, .unknown("gone"), wallMicroseconds: 0)
        log.answered(4, .unreachable("down"), wallMicroseconds: 0)
        #expect(
            log.answers
                == SendLog.Answers(
                    accepted: 0, refused: 2, busy: 1, unreachable: 1, unknown: 1, retried: 0,
                    reasons: ["refused: no", "busy: later", "no answer: gone", "no connection: down"]))
        #expect(log.newestAccepted == [:])
        #expect(log.answerMicroseconds == [])
    }

    @Test func `a call that goes again is counted once, and each repeat as tried again`() {
        var log = log(activities: [5])
        log.answered(0, .busy("later"), wallMicroseconds: 0)
        #expect(log.isNewest(0))
        log.retry(0, after: .busy("later"))
        #expect(log.unanswered == 1)
        log.answered(0, .unreachable("down"), wallMicroseconds: 0)
        log.retry(0, after: .unreachable("down"))
        log.answered(0, .accepted(["C"]), wallMicroseconds: 4_000)
        #expect(log.answers.busy == 0)
        #expect(log.answers.unreachable == 0)
        #expect(log.answers.retried == 2)
        #expect(log.answers.accepted == 1)
    }

    @Test func `an arrival with a number that was not sent is passed over`() {
        var log = log(activities: [0])
        log.arrived(-1, atMicroseconds: 0)
        log.arrived(1, atMicroseconds: 0)
        #expect(log.arrivalMicroseconds == [])
    }
}

struct LoadParametersTests {
    @Test func `orders are sent at 500 a second for a minute`() {
        let parameters = LoadParameters()
        #expect(parameters.schedule == OpenLoop(rate: 500, count: 30_000))
        #expect(parameters.activityCount == 5_000)
        #expect(parameters.devicesPerActivity == 1)
        #expect(parameters.rest == 0)
    }

    @Test func `a fan-out is one update to one activity`() {
        var parameters = LoadParameters()
        parameters.scenario = .fanOut
        #expect(parameters.schedule.count == 1)
        #expect(parameters.activityCount == 1)
        #expect(parameters.devicesPerActivity == 20_000)
        #expect(parameters.rest == 16)
    }

    @Test func `latency is measured on activities that were left alone`() {
        var parameters = LoadParameters()
        parameters.scenario = .latency
        #expect(parameters.schedule == OpenLoop(rate: 50, count: 1_000))
        #expect(parameters.activityCount == 1_000)
        #expect(parameters.rest == 16)
    }

    @Test func `the drill sends 2,000 updates to 500 activities`() {
        var parameters = LoadParameters()
        parameters.killsEach = true
        #expect(parameters.schedule == OpenLoop(rate: 100, count: 2_000))
        #expect(parameters.activityCount == 500)
        #expect(parameters.interval == 2)
    }
}

struct LoadReportTests {
    private var report: LoadReport {
        var outcomes = OutcomeCounts()
        outcomes.delivered = 18_000
        outcomes.superseded = 12_000
        return LoadReport(
            scenario: "orders", parameters: [("activities", 5_000), ("rate", 500)], seconds: 61.25,
            sent: 30_000,
            answers: SendLog.Answers(
                accepted: 29_999, refused: 0, busy: 1, unreachable: 0, unknown: 0, retried: 12,
                reasons: ["busy: later"]),
            outcomes: outcomes, settled: 29_999, unsettled: 0, pushes: 18_000, repeated: 1,
            unseen: ["inThePast": 2], missing: 0,
            lateness: Spread([0, 100]), answerTimes: Spread([1_000, 2_000]), arrivalTimes: Spread([5_000]),
            usage: ServiceUsage(
                lines: Deployment.goingDown.map {
                    .init(service: $0, cpuSeconds: 0.09, residentBytes: 20 * 1_048_576)
                }))
    }

    @Test func `processor time is shared out to the pushes`() throws {
        #expect(abs(try #require(report.cpuMicrosecondsPerPush) - 25) < 0.001)
        var part = report
        part.usage.lines.removeLast()
        #expect(part.cpuMicrosecondsPerPush == nil)
        part = report
        part.pushes = 0
        #expect(part.cpuMicrosecondsPerPush == nil)
    }

    @Test func `the table shows messages, deliveries, times and services`() {
        let lines = report.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "orders: activities 5,000, rate 500; 61.3 s")
        for line in [
            "sent           30,000  delivered        18,000",
            "accepted       29,999  superseded       12,000",
            "HTTP request to APNs      1  5.00  5.00  5.00  5.00", "all five         0.45         25.0",
            "busy: later",
            "phones did not show 2 updates: inThePast",
        ] { #expect(lines.contains(line), "\(line)\n\(report.text)") }
    }

    @Test func `the JSON has the same figures`() throws {
        let root = try JSONDocument(report.json).root
        #expect(root["scenario"]?.string == "orders")
        #expect(root["parameters"]?["rate"]?.int64 == 500)
        #expect(root["seconds"]?.double == 61.25)
        #expect(root["messages"]?["accepted"]?.int64 == 29_999)
        #expect(root["messages"]?["retried"]?.int64 == 12)
        #expect(root["messages"]?["unreachable"]?.int64 == 0)
        #expect(root["deliveries"]?["superseded"]?.int64 == 12_000)
        #expect(root["answerMicroseconds"]?["p99"]?.int64 == 2_000)
        #expect(root["services"]?.elements?.count == 5)
        #expect(root["cpuMicrosecondsPerPush"]?.double == 25)
    }

    @Test func `what was not measured is null`() throws {
        var report = report
        report.arrivalTimes = nil
        report.usage = ServiceUsage(lines: [])
        let root = try JSONDocument(report.json).root
        #expect(root["endToEndMicroseconds"]?.isNull == true)
        #expect(root["cpuMicrosecondsPerPush"]?.isNull == true)
    }
}

struct ServiceUsageTests {
    private func usage(_ seconds: [ServiceName: Double]) -> ServiceUsage {
        ServiceUsage(
            lines: Deployment.goingDown.compactMap { service in
                seconds[service].map { .init(service: service, cpuSeconds: $0, residentBytes: 0) }
            })
    }

    @Test func `what was used is the difference`() {
        let used = usage([.ingest: 3, .segmenter: 2]).since(usage([.ingest: 1, .segmenter: 2]))
        #expect(used == usage([.ingest: 2, .segmenter: 0]))
    }

    @Test func `a service that was started anew, or was not there, is left out`() {
        let used = usage([.ingest: 3, .segmenter: 1]).since(usage([.segmenter: 2]))
        #expect(used == usage([:]))
    }
}
