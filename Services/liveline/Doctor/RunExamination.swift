import Contracts
import Crypto
import FoundationEssentials
import Service

/// Looks at locks and sockets of a run directory, and at the processes behind them, by what the kernel says.
struct RunExamination {
    /// A service needs so many files open at a time: connections at its door and to APNs, sockets and stores.
    static let descriptorsLeast = 4_096

    let directory: String
    /// Texts of `/proc`, by their path; nil for what is not there.
    let proc: (String) -> String?

    init(
        directory: String,
        proc: @escaping (String) -> String? = { try? String(contentsOfFile: $0, encoding: .utf8) }
    ) {
        (self.directory, self.proc) = (directory, proc)
    }

    var findings: [Finding] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory).sorted() else {
            return [Finding("\(directory): there is no such directory", "start the services: they make it")]
        }
        let locks = names.filter { $0.hasSuffix(".lock") }
        return open + locks.flatMap(look) + sockets(names)
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

    private func look(_ lock: String) -> [Finding] {
        let name = String(lock.dropLast(".lock".count))
        guard let process = holder("\(directory)/\(lock)") else {
            return [
                Finding(
                    "\(name) does not run: nobody holds \(directory)/\(lock)",
                    "start it, or remove the lock file of an instance that is gone for good")
            ]
        }
        guard let limit = descriptors(process), limit < Self.descriptorsLeast else { return [] }
        return [
            Finding(
                "\(name) (process \(process)) may open \(limit) files at a time",
                "set LimitNOFILE=\(Self.descriptorsLeast) or more in its unit, or ulimit -n before it starts")
        ]
    }

    /// The process that has locked a file (proc(5), /proc/locks).
    func holder(_ path: String) -> Int? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let inode = FileNumber.read(attributes[.systemFileNumber])
        else { return nil }
        return Self.holder(ofInode: inode, in: proc("/proc/locks") ?? "")
    }

    /// Reads a line such as `1: FLOCK  ADVISORY  WRITE 708 08:01:3145 0 EOF`.
    static func holder(ofInode inode: UInt64, in locks: String) -> Int? {
        for line in locks.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK",
                words[5].split(separator: ":").last == Substring("\(inode)")
            else { continue }
            return Int(words[4])
        }
        return nil
    }

    private func descriptors(_ process: Int) -> Int? {
        Self.descriptors(in: proc("/proc/\(process)/limits") ?? "")
    }

    /// Reads the soft limit of `Max open files` (proc(5), /proc/pid/limits); nil where it is unlimited or not there.
    static func descriptors(in limits: String) -> Int? {
        limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            .flatMap { $0.dropFirst("Max open files".count).split(separator: " ").first }.flatMap { Int($0) }
    }

    // MARK: Sockets

    /// Sockets whose process is gone; one that holds its lock watches its sockets itself.
    private func sockets(_ names: [String]) -> [Finding] {
        let left = names.filter { name in
            guard let dot = name.lastIndex(of: "."), Self.sockets.contains(String(name[dot...])) else {
                return false
            }
            return holder("\(directory)/\(name[..<dot]).lock") == nil
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
