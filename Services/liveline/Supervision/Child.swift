import Processes
import Telemetry
import Web

/// A child's place in the supervision: the process that fills it at the moment, if any, and the lines it prints.
final class Child: Pollable {
    let plan: ChildPlan
    private let environment: [String: String]
    private let sink: LogSink
    private var lines = LineSplitter()
    private(set) var process: ChildProcess?

    init(_ plan: ChildPlan, environment: [String: String], sink: @escaping LogSink) {
        self.plan = plan
        self.environment = environment.merging(plan.environment) { $1 }
        self.sink = sink
    }

    /// Starts a process.
    func start() throws(ProcessError) {
        process = try ChildProcess(path: plan.path, arguments: plan.arguments, environment: environment)
    }

    /// Becomes readable when it has printed something.
    var descriptor: CInt { process?.outputDescriptor ?? -1 }
    var nextDeadlineMilliseconds: Int64? { nil }

    /// Passes on the lines that are whole.
    func process(nowMilliseconds: Int64) { passOn(readsMax: 4) }

    /// How the process ended; nil while it runs.
    ///
    /// What it printed last is passed on first.
    func takeExit() -> ProcessExit? {
        guard let exit = process?.takeExit() else { return nil }
        passOn(readsMax: 1_024)
        if let line = lines.finish() { sink(line) }
        process = nil
        return exit
    }

    private func passOn(readsMax: Int) {
        for _ in 0..<readsMax {
            guard case .bytes(let bytes)? = process?.readOutput() else { return }
            for line in lines.take(bytes) { sink(line) }
        }
    }
}

/// Becomes readable when a child's process ends.
final class ChildEnd: Pollable {
    private let child: Child
    private let ended: () -> Void

    init(_ child: Child, ended: @escaping () -> Void) {
        self.child = child
        self.ended = ended
    }

    var descriptor: CInt { child.process?.exitDescriptor ?? -1 }
    var nextDeadlineMilliseconds: Int64? { nil }
    func process(nowMilliseconds: Int64) { ended() }
}
