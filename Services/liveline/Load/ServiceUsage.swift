import Contracts
import Service

/// What each service has used of processor time and memory.
struct ServiceUsage: Sendable, Equatable {
    /// One service.
    struct Line: Sendable, Equatable {
        var service: ServiceName
        var cpuSeconds: Double
        var residentBytes: Double
    }

    /// Those that answered, in the order of the pipeline.
    var lines: [Line]

    /// Asks all of them.
    static func measure(_ configuration: Configuration, _ loop: CallLoop) -> ServiceUsage {
        ServiceUsage(
            lines: Deployment.goingDown.compactMap { service in
                let state = ServiceState.ask(InstanceName(service), configuration) { try loop.call($0) }
                guard let cpu = state.cpuSeconds else { return nil }
                return Line(service: service, cpuSeconds: cpu, residentBytes: state.residentBytes ?? 0)
            })
    }

    /// What was used since an earlier moment, with the memory of now; only of services that answered both times and
    /// have not been started anew.
    func since(_ earlier: ServiceUsage) -> ServiceUsage {
        ServiceUsage(
            lines: lines.compactMap { line in
                guard let former = earlier.lines.first(where: { $0.service == line.service }),
                    former.cpuSeconds <= line.cpuSeconds
                else { return nil }
                var used = line
                used.cpuSeconds -= former.cpuSeconds
                return used
            })
    }

    /// Processor time of all of them together, seconds; nil unless all five are there.
    var totalSeconds: Double? {
        lines.count == Deployment.goingDown.count ? lines.reduce(0) { $0 + $1.cpuSeconds } : nil
    }
}
