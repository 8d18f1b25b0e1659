import Contracts
import Telemetry
import Testing

@testable import Service

@Suite struct PauseGaugeTests {
    private let pause = Pause(application: "A-1", environment: .production)

    @Test func `what is paused stands at 1 with its reason, and at 0 when it is not`() {
        let metrics = Metrics()
        let gauge = PauseGauge(metrics)
        let series = #"liveline_paused{application="A-1",environment="production",reason="#
        gauge.show([:])
        #expect(!metrics.exposition().contains("liveline_paused"))
        gauge.show([pause: "no-key"])
        #expect(metrics.exposition().contains("\(series)\"no-key\"} 1\n"))
        gauge.show([pause: "by-call"])
        #expect(metrics.exposition().contains("\(series)\"no-key\"} 0\n"))
        #expect(metrics.exposition().contains("\(series)\"by-call\"} 1\n"))
        gauge.show([:])
        #expect(!metrics.exposition().contains("} 1\n"))
    }
}
