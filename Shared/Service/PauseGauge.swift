import Contracts
import Telemetry

/// Shows what a core holds back, and why, as `liveline_paused`.
final class PauseGauge {
    private let metrics: Metrics
    /// The series that stand at 1, by the values of their labels.
    private var shown: Set<[String]> = []
    /// Made with the first pause: other services than the registry never have one.
    private lazy var gauge = metrics.gauge(
        "liveline_paused", help: "Whether an application is paused in an environment, and why.",
        labels: ["application", "environment", "reason"])

    init(_ metrics: Metrics) { self.metrics = metrics }

    /// Sets what is paused now to 1, and what was before to 0.
    func show(_ reasons: [Pause: String]) {
        let now = Set(reasons.map { [$0.key.application, $0.key.environment.rawValue, $0.value] })
        for labels in shown.subtracting(now) { gauge.set(0, labels) }
        for labels in now { gauge.set(1, labels) }
        shown = now
    }
}
