import Contracts
import Service
import Web

/// The services of a run directory that one `liveline up` watches.
///
/// The children of a second one would be refused by the locks of the first one's, again and again. The kernel gives
/// the claim back however its process ends, and kills the children with it.
final class Claim {
    /// How long the locks of services may be held by processes that are about to be gone, ms.
    static let patienceMilliseconds: Int64 = 2_000
    private static let tryMilliseconds: Int64 = 50

    private let directory: String
    private var locks: [InstanceLock] = []

    /// Claims services.
    ///
    /// - Throws: `CommandFailure` with 75 if another `liveline up` watches one of them, or one runs by itself; with 69 if
    ///   the directory cannot be written.
    init(
        _ services: [ServiceName], in directory: String,
        patienceMilliseconds: Int64 = Claim.patienceMilliseconds
    ) throws(CommandFailure) {
        self.directory = directory
        for service in services { locks.append(try lock(service)) }
        let deadline = MonotonicClock.nowMilliseconds() + patienceMilliseconds
        while let (name, process) = running(services) {
            guard MonotonicClock.nowMilliseconds() < deadline else {
                throw CommandFailure(
                    .temporary, "\(directory): \(name) runs here already, as process \(process)")
            }
            Poller([]).run(timeoutMilliseconds: Self.tryMilliseconds) { false }
        }
    }

    private func lock(_ service: ServiceName) throws(CommandFailure) -> InstanceLock {
        let path = "\(directory)/\(service.rawValue).up"
        do throws(SystemError) {
            if let lock = try InstanceLock(path) { return lock }
        } catch {
            throw CommandFailure(.unavailable, "\(path): \(error)")
        }
        let process = KernelView().holder(path).map { " (process \($0))" } ?? ""
        throw CommandFailure(
            .temporary, "\(directory): another liveline up\(process) runs \(service.rawValue) here")
    }

    private func running(_ services: [ServiceName]) -> (name: InstanceName, process: Int)? {
        for name in services.map({ InstanceName($0) }) {
            if let process = KernelView().holder("\(directory)/\(name).lock") { return (name, process) }
        }
        return nil
    }
}
