import Contracts
import FoundationEssentials
import Service

/// Where the programs are that `liveline` starts: beside its own.
struct Executables: Sendable {
    /// The simulator's name.
    static let simulator = "apns-simulator"

    /// The directory.
    var directory: String

    /// Finds the directory of this process's program.
    ///
    /// - Throws: `CommandFailure` where there is no `/proc`.
    static func besideThisOne() throws(CommandFailure) -> Executables {
        do {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return Executables(directory: URL(filePath: own).deletingLastPathComponent().path)
        } catch {
            throw CommandFailure(.unavailable, "/proc/self/exe: \(error)")
        }
    }

    /// The path of a program.
    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Makes sure that the programs are there.
    ///
    /// - Throws: `CommandFailure` that names those that are not.
    func require(_ names: [String]) throws(CommandFailure) {
        let missing = names.filter { !FileManager.default.isExecutableFile(atPath: path($0)) }
        guard missing.isEmpty else {
            throw CommandFailure(
                .unavailable, missing.map { "\(path($0)): no such program; swift build makes it" })
        }
    }
}
