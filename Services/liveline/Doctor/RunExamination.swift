import Contracts
import Crypto
import FoundationEssentials
import Service

/// Looks at locks and sockets of a run directory, and at the processes behind them, by what the kernel says.
struct RunExamination {
    /// An instance that holds its lock.
    struct Running: Equatable {
        var name: InstanceName
        var process: Int
    }

    /// A service needs so many files open at a time: connections at its door and to APNs, sockets and stores.
    static let descriptorsLeast = 4_096

    let directory: String
    let kernel: KernelView
    /// The instances that run, sorted.
    let running: [Running]
    /// The instances that have run here and do not now, sorted.
    private let stopped: [InstanceName]
    /// The files of the directory; nil where there is no such directory.
    private let names: [String]?

    init(directory: String, kernel: KernelView = KernelView()) {
        (self.directory, self.kernel) = (directory, kernel)
        names = try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        let locked = (names ?? []).filter { $0.hasSuffix(".lock") }
            .compactMap { InstanceName($0.dropLast(".lock".count)) }.sorted()
        let holders = locked.map { ($0, kernel.holder("\(directory)/\($0).lock")) }
        running = holders.compactMap { name, process in process.map { Running(name: name, process: $0) } }
        stopped = holders.compactMap { name, process in process == nil ? name : nil }
    }

    /// Says that all is stopped, which is no fault; nil where something runs, or nothing ever has.
    var remark: String? {
        running.isEmpty && !stopped.isEmpty ? "\(directory): the services are stopped" : nil
    }

    var findings: [Finding] {
        guard let names else {
            return [Finding("\(directory): there is no such directory", "start the services: they make it")]
        }
        return open + missing + running.flatMap(limits) + sockets(names)
    }

    private var open: [Finding] {
        guard PrivateFile.isOpenToOthers(directory) else { return [] }
        return [
            Finding(
                "\(directory) is open to every user",
                "chmod 750 \(directory): who reaches the sockets can send pushes")
        ]
    }

    // MARK: Processes

    /// Services that have run here and do not, while others do.
    ///
    /// An instance that stopped beside another of its service is missed by nobody.
    private var missing: [Finding] {
        guard !running.isEmpty else { return [] }
        let services = Set(stopped.map(\.service)).subtracting(running.map(\.name.service))
        return stopped.filter { services.contains($0.service) }.map { name in
            Finding(
                "\(name) does not run: nobody holds \(directory)/\(name).lock",
                "start it, or remove the lock file of an instance that is gone for good")
        }
    }

    private func limits(_ instance: Running) -> [Finding] {
        guard let limit = kernel.descriptorsMax(instance.process), limit < Self.descriptorsLeast else {
            return []
        }
        return [
            Finding(
                "\(instance.name) (process \(instance.process)) may open \(limit) files at a time",
                "set LimitNOFILE=\(Self.descriptorsLeast) or more in its unit, or ulimit -n before it starts")
        ]
    }

    // MARK: Sockets

    /// Sockets whose process is gone; one that holds its lock watches its sockets itself.
    private func sockets(_ names: [String]) -> [Finding] {
        let living = Set(running.map(\.name.description))
        let left = names.filter { name in
            guard let dot = name.lastIndex(of: "."), Self.sockets.contains(String(name[dot...])) else {
                return false
            }
            return !living.contains(String(name[..<dot]))
        }
        guard let first = left.first else { return [] }
        let others = left.count > 1 ? " and \(left.count - 1) more" : ""
        return [
            Finding(
                "\(directory)/\(first)\(others): nobody listens at this socket",
                "a service that was killed leaves it; its next start replaces it")
        ]
    }

    private static let sockets: Set<String> = [".work", ".answers", ".admin"]
}
