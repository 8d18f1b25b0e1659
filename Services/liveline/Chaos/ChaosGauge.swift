import FoundationEssentials
import Processes
import Web

/// What the programs of a run use, over all of their lives: read from proc(5) once a second.
///
/// What a process used in its last second before a kill is not seen.
final class ChaosGauge: Pollable {
    /// What one program has used.
    struct Usage: Equatable, Sendable {
        /// Processor time of all lives, seconds.
        var cpuSeconds = 0.0
        /// The most memory that one of its lives has held, bytes (`VmHWM`).
        var peakBytes = 0
        private var processID: Int32 = 0
        private var formerSeconds = 0.0

        /// Takes what one life has used up to now.
        mutating func take(_ reading: Reading, of processID: Int32) {
            if processID != self.processID {
                formerSeconds = cpuSeconds
                self.processID = processID
            }
            cpuSeconds = max(cpuSeconds, formerSeconds + reading.cpuSeconds)
            peakBytes = max(peakBytes, reading.peakBytes)
        }
    }

    /// What the system says of a process.
    struct Reading: Equatable, Sendable {
        var cpuSeconds: Double
        var peakBytes: Int

        /// The clock ticks of a second in `/proc/pid/stat` (`USER_HZ`, 100 on every Linux that is built today).
        private static let ticks = 100.0

        /// Reads the texts of `/proc/pid/stat` and `/proc/pid/status`; nil when they are not such.
        init?(stat: String, status: String) {
            // The name in parentheses may hold anything; behind it come state, …, utime (14th) and stime (15th).
            guard let name = stat.lastIndex(of: ")") else { return nil }
            let fields = stat[name...].split(separator: " ")
            guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
                return nil
            }
            cpuSeconds = (user + system) / Self.ticks
            let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            guard let kilobytes = peak?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
                return nil
            }
            peakBytes = kilobytes * 1_024
        }

        /// Reads a process; nil when it has ended.
        init?(processID: String) {
            func text(_ name: String) -> String? {
                KernelView.text("/proc/\(processID)/\(name)")
            }
            guard let stat = text("stat"), let status = text("status") else { return nil }
            self.init(stat: stat, status: status)
        }
    }

    /// The name under which the run itself is counted.
    static let own = "this run"
    private static let intervalMilliseconds: Int64 = 1_000

    private let supervisor: Supervisor
    private var due: Int64 = 0
    /// Of each program, in the order in which they go down; the run itself is the last.
    private(set) var usages: [(name: String, usage: Usage)]

    init(_ supervisor: Supervisor) {
        self.supervisor = supervisor
        usages = supervisor.children.map { ($0.plan.name, Usage()) } + [(Self.own, Usage())]
    }

    var descriptor: CInt { -1 }
    var nextDeadlineMilliseconds: Int64? { due }

    func process(nowMilliseconds: Int64) {
        due = nowMilliseconds + Self.intervalMilliseconds
        for (place, child) in supervisor.children.enumerated() {
            guard let process = child.process, let reading = Reading(processID: "\(process.processID)") else {
                continue
            }
            usages[place].usage.take(reading, of: process.processID)
        }
        guard let reading = Reading(processID: "self") else { return }
        usages[usages.count - 1].usage.take(reading, of: 0)
    }
}
