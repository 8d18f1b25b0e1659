import Contracts
import Testing

@testable import liveline

struct ChaosReportTests {
    private func report(breaches: [String] = [], sent: Int = 60_000, accepted: Int = 60_000) -> ChaosReport {
        var timeline = ChaosTimeline()
        for (kind, service) in [
            (ChaosTimeline.Kind.kill, ServiceName.ingest), (.kill, .apnsGateway), (.hold, .segmenter),
        ] {
            _ = timeline.begin(kind, service, at: 0)
        }
        var tally = ChaosTally()
        tally.accepted = accepted
        var usage = ChaosGauge.Usage()
        usage.cpuSeconds = 6
        usage.peakBytes = 3 << 20
        return ChaosReport(
            parameters: ChaosParameters(), tally: tally, timeline: timeline,
            pace: ChaosReport.Pace(milliseconds: 60_000, offered: 60_000, sent: sent, accepted: accepted),
            restMilliseconds: 1_500, judgeMilliseconds: 9_000, unknown: 3, busy: ["stopping": 4],
            faults: [.invalidKey: 2],
            tokensChanged: 5, dismissals: 1, usages: [("ingest", usage), (ChaosGauge.own, usage)],
            breaches: breaches, breachCount: breaches.count)
    }

    @Test func `it tells the rate that was kept, and what each program used for it`() {
        let text = report().text
        #expect(
            text.contains(
                "accepted a second: 1000.0 (offered 60,000, sent 60,000, accepted 60,000 in 60.0 s; "
                    + "answered 503 4, not answered 3, both sent again)"))
        #expect(text.contains("\n503 \"stopping\": 4\n"))
        #expect(!text.contains("were not sent"))
        #expect(text.contains("ingest        1      0         0    6.0                   100      3.0"))
        #expect(text.contains("all five      2      1         0    6.0                   100"))
        #expect(text.contains("invalidKey 2, tokens changed 5, dismissed 1"))
        #expect(text.contains("at rest after 1.5 s, judged after 9.0 s more"))
        #expect(text.hasSuffix("every promise kept: 0 breaches, 0 lost"))
    }

    @Test func `a run that could not send what was due says so`() {
        let text = report(sent: 48_000, accepted: 45_000).text
        #expect(text.contains("accepted a second: 750.0 "))
        #expect(text.contains("12,000 calls that were due were not sent"))
        #expect(
            text.contains("0 breaches\n\nthe run does not count: it sent 80.0 % of the calls that were due"))
        #expect(!text.contains("every promise kept"))
    }

    @Test(arguments: [(57_000, true), (56_999, false), (0, false)])
    func `a run counts only if 95 % of what was due went out`(sent: Int, isGood: Bool) {
        #expect(report(sent: sent, accepted: sent).isGood == isGood)
    }

    @Test func `breaches stand at its end in words`() {
        #expect(report(breaches: ["twice: x"]).text.hasSuffix("1 breaches:\n  twice: x"))
    }
}

struct ChaosGaugeTests {
    private let stat = "77 (a (b) c) S 1 1 1 0 -1 4194560 9 0 0 0 150 50 0 0 20 0 5 0 100 0 0"

    @Test func `what proc tells of a process is read`() throws {
        let reading = try #require(
            ChaosGauge.Reading(stat: stat, status: "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\n"))
        #expect(reading.cpuSeconds == 2)
        #expect(reading.peakBytes == 2 << 20)
        #expect(ChaosGauge.Reading(stat: "nothing", status: "") == nil)
        #expect(ChaosGauge.Reading(stat: stat, status: "") == nil)
        #expect(ChaosGauge.Reading(processID: "self") != nil)
        #expect(ChaosGauge.Reading(processID: "0") == nil)
    }

    @Test func `the lives of a program are added up, and the largest counts`() throws {
        func reading(_ ticks: Int, _ kilobytes: Int) throws -> ChaosGauge.Reading {
            let stat = "7 (x) S 1 1 1 0 -1 4194560 9 0 0 0 \(ticks) 0 0 0 20"
            return try #require(ChaosGauge.Reading(stat: stat, status: "VmHWM: \(kilobytes) kB"))
        }
        var usage = ChaosGauge.Usage()
        usage.take(try reading(100, 10), of: 7)
        usage.take(try reading(300, 30), of: 7)
        usage.take(try reading(50, 20), of: 8)
        #expect(usage.cpuSeconds == 3.5)
        #expect(usage.peakBytes == 30 << 10)
    }
}
