import Processes
import Web

/// Kills each service with SIGKILL, one after the other, while a run goes on.
final class KillDrill: Pollable {
    private let supervisor: Supervisor
    private let names: [String]
    private let dues: [Int64]
    private let progress: Progress
    private(set) var killed = 0

    /// Begins now.
    ///
    /// - Parameters:
    ///   - supervisor: who starts them again.
    ///   - names: the services in the order in which they are killed.
    ///   - durationMilliseconds: the time over which the kills are spread.
    ///   - progress: where each kill is told.
    init(_ supervisor: Supervisor, names: [String], durationMilliseconds: Int64, progress: Progress) {
        self.supervisor = supervisor
        self.names = names
        self.progress = progress
        let now = MonotonicClock.nowMilliseconds()
        dues = names.indices.map {
            now + durationMilliseconds * (2 * Int64($0) + 1) / (2 * Int64(names.count))
        }
    }

    /// Whether all of them have been killed and run again.
    var isDone: Bool { killed == names.count && supervisor.isReady }

    var descriptor: CInt { -1 }

    /// A service is killed only once the one before is ready again.
    var nextDeadlineMilliseconds: Int64? {
        guard killed < names.count, supervisor.isReady else { return nil }
        return dues[killed]
    }

    func process(nowMilliseconds: Int64) {
        guard let due = nextDeadlineMilliseconds, due <= nowMilliseconds else { return }
        let name = names[killed]
        guard let child = supervisor.children.first(where: { $0.plan.name == name }) else { return }
        progress.say("kill -9 \(name) (\(child.process?.processID ?? 0))")
        child.process?.send(.kill)
        killed += 1
    }
}
