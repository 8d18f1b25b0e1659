import Contracts
import Crypto
import FoundationEssentials
import Processes
import Store
import Web

/// Looks at the stores of a data directory, also while their services work.
struct StoreExamination {
    /// Which store belongs to which service.
    static let stores: [(service: ServiceName, file: String)] = [
        (.ingest, "journal.sqlite"), (.segmenter, "profiles.sqlite"), (.tokenRegistry, "ledger.sqlite"),
    ]

    let directory: String
    /// Whether every page and index is compared.
    let isThorough: Bool
    /// The schema version that a service's program writes; nil where it does not say.
    let version: (ServiceName) -> Int?
    /// The files that the processes of a service have open, as `KernelView` tells them.
    var opened: (ServiceName) -> [String] = { _ in [] }
    /// How many bytes the disk of a file has free.
    var freeBytes: (String) -> Int64 = { (try? DiskSpace(at: $0).freeBytes) ?? 0 }

    var findings: [Finding] { Self.stores.flatMap { look($0.service, "\(directory)/\($0.file)") } }

    private func look(_ service: ServiceName, _ path: String) -> [Finding] {
        if let lost = lost(service, path) { return [lost] }
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        var findings: [Finding] = []
        if PrivateFile.isOpenToOthers(path) {
            findings.append(
                Finding(
                    "\(path) can be read or written by every user",
                    "chmod 600 \(path)* (it holds tokens of phones)"))
        }
        do throws(StoreError) {
            let crowded = crowded(service, path)
            let depth: StoreInspection.Depth = crowded != nil ? .schema : isThorough ? .indexes : .pages
            let store = try StoreInspection(path, depth: depth)
            findings += damage(store, service, path) + versions(store, service, path)
            findings += [crowded].compactMap { $0 }
        } catch {
            findings.append(
                Finding(
                    "\(path): \(error)",
                    "see that this user may read it, and that it is the store of \(service.rawValue)"))
        }
        return findings
    }

    /// Says that a store is not read through, where its service could fill the disk meanwhile.
    ///
    /// The write-ahead log grows as long as the store is read: 1 s for each 100 MB, in which no service here writes 20.
    private func crowded(_ service: ServiceName, _ path: String) -> Finding? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard !opened(service).isEmpty, let size = FileNumber.read(attributes?[.size]),
            freeBytes(path) < size / 4
        else { return nil }
        return Finding(
            "\(path) was not read through: its write-ahead log grows meanwhile, and little disk is free",
            "make room, or stop \(service.rawValue), and ask again")
    }

    /// Says that a service works with another file than the one at the path, which may have no name any more.
    private func lost(_ service: ServiceName, _ path: String) -> Finding? {
        let name = path.split(separator: "/").last.map { "/\($0)" } ?? path
        let opened = opened(service)
        guard !opened.isEmpty else { return nil }
        let isRemoved = opened.contains { $0.hasSuffix("\(name) (deleted)") }
        let isLogRemoved = opened.contains { $0.hasSuffix("\(name)-wal (deleted)") }
        let named = opened.first { $0.hasSuffix(name) }
        let isThere = FileManager.default.fileExists(atPath: path)
        let what = "was removed or replaced while \(service.rawValue) works with it"
        let until = "restart \(service.rawValue): until then it takes nothing in, and then it"
        if named == nil, !isRemoved {
            return Finding(
                "\(path) was moved while \(service.rawValue) works with it",
                "move it back, with its -wal and -shm, and \(service.rawValue) goes on; a restart before that begins "
                    + "a new store")
        }
        if isRemoved || isLogRemoved && !isThere {
            return Finding(
                "\(path) \(what)",
                "\(until) begins with what is at this path, a new store if nothing is; what was in the "
                    + "former one is lost")
        }
        if isLogRemoved {
            return Finding(
                "\(path)-wal \(what)",
                "\(until) begins with what \(path) holds; what was in the -wal alone is lost")
        }
        guard !isThere, let named else { return nil }
        return Finding(
            "\(path) is not there: \(service.rawValue) works with \(named)",
            "if that is its place, name it by --data; if its directory was moved, move it back before \(service.rawValue) "
                + "is started again")
    }

    private func damage(_ store: StoreInspection, _ service: ServiceName, _ path: String) -> [Finding] {
        guard let first = store.damage.first else { return [] }
        return [
            Finding(
                "\(path) is damaged: \(first)"
                    + (store.damage.count > 1 ? " and \(store.damage.count - 1) more" : ""),
                "stop \(service.rawValue), keep a copy of the file with its -wal and -shm, and restore a backup or what "
                    + "sqlite3's .recover saves; look at the disk and the memory of the machine")
        ]
    }

    private func versions(_ store: StoreInspection, _ service: ServiceName, _ path: String) -> [Finding] {
        guard let known = version(service), store.damage.isEmpty, store.version != known else { return [] }
        if store.version > known {
            return [
                Finding(
                    "\(path) has schema \(store.version), and \(service.rawValue) here knows \(known)",
                    "a newer \(service.rawValue) wrote it: install that one again")
            ]
        }
        return [
            Finding(
                "\(path) has schema \(store.version), and \(service.rawValue) here has \(known)",
                "restart \(service.rawValue): it brings the store up to date at its start")
        ]
    }

    /// Asks a service's program which schema it writes.
    static func version(of service: ServiceName, in executables: Executables) -> Int? {
        let path = executables.path(service.rawValue)
        guard let child = try? ChildProcess(path: path, arguments: ["--version"], environment: [:]) else {
            return nil
        }
        let output = ProgramOutput(child)
        guard Poller(output).run(timeoutMilliseconds: 5_000, until: { output.isEnded }) else {
            child.send(.kill)
            return nil
        }
        return schema(inVersion: String(decoding: output.bytes, as: UTF8.self))
    }

    /// Reads `ingest 1.0.0, store 3`.
    static func schema(inVersion text: String) -> Int? {
        text.split(separator: ", store ").dropFirst().first.flatMap { Int($0.filter(\.isNumber)) }
    }
}

/// What a program prints until it closes its output.
private final class ProgramOutput: Pollable {
    private let child: ChildProcess
    private(set) var bytes: [UInt8] = []
    private(set) var isEnded = false

    init(_ child: ChildProcess) { self.child = child }

    var descriptor: CInt { child.outputDescriptor }
    var nextDeadlineMilliseconds: Int64? { nil }

    func process(nowMilliseconds: Int64) {
        switch child.readOutput() {
        case .bytes(let part): bytes += part
        case .nothing: return
        case .end:
            isEnded = true
            _ = child.takeExit()
        }
    }
}
