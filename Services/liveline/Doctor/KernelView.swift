import FoundationEssentials
import Web

/// What the kernel says of processes (proc(5)); nothing is disturbed by looking.
struct KernelView {
    /// The text of a file of `/proc`; nil for what is not there or not shown to this user.
    let read: (String) -> String?
    /// The targets of the links in a directory of `/proc`; none where it is not shown.
    let links: (String) -> [String]

    init(
        read: @escaping (String) -> String? = KernelView.text,
        links: @escaping (String) -> [String] = KernelView.links
    ) {
        (self.read, self.links) = (read, links)
    }

    /// The text of a file whose size is not told before it is read to its end, as all of `/proc`; a part is no answer.
    static func text(_ path: String) -> String? {
        guard let file = FileReader(path) else { return nil }
        var bytes: [UInt8] = []
        while true {
            guard let part = file.read(65_536) else { return nil }
            guard !part.isEmpty else { return String(validating: bytes, as: UTF8.self) }
            bytes += part
        }
    }

    private static func links(in directory: String) -> [String] {
        let files = FileManager.default
        let names = (try? files.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { try? files.destinationOfSymbolicLink(atPath: "\(directory)/\($0)") }
    }

    // MARK: Locks

    /// The process that has locked a file.
    func holder(_ path: String) -> Int? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let inode = FileNumber.read(attributes[.systemFileNumber])
        else { return nil }
        return Self.holder(ofInode: inode, in: read("/proc/locks") ?? "")
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

    // MARK: Processes

    /// How many files a process may open at a time; nil where that is unlimited or not shown.
    func descriptorsMax(_ process: Int) -> Int? {
        (read("/proc/\(process)/limits") ?? "").split(separator: "\n").first {
            $0.hasPrefix("Max open files")
        }
        .flatMap { $0.dropFirst("Max open files".count).split(separator: " ").first }.flatMap { Int($0) }
    }

    /// Whether a process is held by SIGSTOP or a debugger.
    func isHeld(_ process: Int) -> Bool {
        guard let stat = read("/proc/\(process)/stat"), let name = stat.lastIndex(of: ")") else {
            return false
        }
        return ["T", "t"].contains(stat[name...].split(separator: " ").dropFirst().first)
    }

    /// The files that a process has open; one that was removed ends in ` (deleted)`.
    func opened(_ process: Int) -> [String] { links("/proc/\(process)/fd") }

    /// The environment that a process was started with; nil where it is not shown.
    func environment(_ process: Int) -> [String: String]? {
        guard let text = read("/proc/\(process)/environ") else { return nil }
        let pairs = text.split(separator: "\0").compactMap { entry in
            entry.firstIndex(of: "=").map { (String(entry[..<$0]), String(entry[$0...].dropFirst())) }
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
