import Processes
import Web

/// Kills each service with SIGKILL, one after the other, while a run goes on.
final class KillDrill: Pollable {
    private let supervisor: Supervisor
    private let names: [String]
    private let dues: [Int64]
    private let progress: Progress
    private var killed = 0
    private var victim: (child: Child, processID: Int32)?

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
    var isDone: Bool { killed == names.count && isWhole }

    /// Whether the last one that was killed runs again, and all are ready.
    private var isWhole: Bool {
        // That a process has ended is known only once it has been waited for.
        if let victim, victim.child.process?.processID == victim.processID { return false }
        return supervisor.isReady
    }

    var descriptor: CInt { -1 }

    /// A service is killed only once the one before is ready again.
    var nextDeadlineMilliseconds: Int64? {
        guard killed < names.count, isWhole else { return nil }
        return dues[killed]
    }

    func process(nowMilliseconds: Int64) {
        guard let due = nextDeadlineMilliseconds, due <= nowMilliseconds else { return }
        let name = names[killed]
        guard let child = supervisor.children.first(where: { $0.plan.name == name }),
            let process = child.process
        else { return }
        progress.say("kill -9 \(name) (\(process.processID))")
        process.send(.kill)
        victim = (child, process.processID)
        killed += 1
    }
}
