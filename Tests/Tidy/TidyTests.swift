import Foundation
import Testing

/// What a formatter cannot see.
@Suite struct `The source tree` {
    @Test func `holds at its top what the layout allows`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
        let allowed = ["Package.swift", "README.md", "Services", "Shared", "Tests", "compose"]
        #expect(
            names.filter { !$0.hasPrefix(".") && !allowed.contains($0) && $0 != "Package.resolved" } == [])
    }

    @Test func `prints nothing beside logs and outputs`() throws {
        let tree = try SourceTree(under: "Services", "Shared")
        let prints = tree.code.filter {
            $0.text.utf8Contains("print(") && $0.text.contains(/(^|[^\w.])print\(/)
        }
        #expect(prints.map(\.place) == [])
    }

    @Test func `leaves nothing for later and traps on no input`() throws {
        let tree = try SourceTree(under: "Services", "Shared", "Tests")
        let marks = ["TO" + "DO", "FIX" + "ME", "try" + "!", "fatal" + "Error("]
        let found = tree.files.flatMap(\.lines).filter { line in marks.contains { line.text.utf8Contains($0) }
        }
        #expect(found.map(\.place) == [])
    }

    @Test func `keeps clocks and randomness out of the cores`() throws {
        let sources = [
            "Date()", "ContinuousClock", "SuspendingClock", "clock_gettime", ".random(", "randomBytes(",
            "randomUInt64(", "UUID()", "SystemRandomNumberGenerator",
        ]
        let cores = ["segmenter", "token-registry", "rate-limiter", "ingest", "apns-gateway"]
        let tree = try SourceTree(under: "Shared/Contracts")
        let services = try cores.map { try SourceTree(under: "Services/\($0)") }
        let lines = tree.code + services.flatMap(\.code).filter { !SourceTree.isOutside($0.file) }
        #expect(lines.filter { line in sources.contains { line.text.utf8Contains($0) } }.map(\.place) == [])
    }

    /// The programs that tests start would take one with the product's prefix for a setting.
    @Test func `names the variables of the tests apart from the settings`() throws {
        let asked = try SourceTree(under: "Tests").code.filter {
            $0.text.utf8Contains("environment[" + "\"LIVELINE_")
        }
        #expect(asked.map(\.place) == [])
    }

    @Test func `imports C only in wrappers`() throws {
        let tree = try SourceTree(under: "Services", "Shared", "Tests")
        let c = tree.files.filter { file in
            SourceTree.imports(file.lines).contains { $0.contains(/^C[A-Z]\w+$/) && $0 != "Crypto" }
                && !file.path.hasPrefix("Shared/")
        }
        #expect(c.map(\.path) == [])
    }

    @Test func `keeps the services apart`() throws {
        let services = [
            "ingest", "segmenter", "token_registry", "rate_limiter", "apns_gateway", "apns_simulator",
            "liveline",
        ]
        let tree = try SourceTree(under: "Services", "Shared")
        let joined = tree.files.filter { !Set(SourceTree.imports($0.lines)).isDisjoint(with: services) }
        #expect(joined.map(\.path) == [])
        let contracts = try SourceTree(under: "Shared/Contracts").files.flatMap {
            SourceTree.imports($0.lines)
        }
        #expect(Set(contracts).isSubset(of: ["FoundationEssentials"]))
    }

    @Test func `keeps files and entry points short`() throws {
        let tree = try SourceTree(under: "Services", "Shared", "Tests")
        #expect(tree.files.filter { $0.lines.count > 400 }.map { "\($0.path): \($0.lines.count)" } == [])
        let mains = tree.files.filter { $0.path.hasSuffix("/main.swift") }
        #expect(mains.count == 7)
        #expect(mains.filter { $0.lines.count > 41 }.map(\.path) == [])
    }
}

extension SourceTree {
    /// Adapters and entry points, where a service meets clocks, files and sockets.
    static func isOutside(_ file: String) -> Bool {
        file.hasSuffix("/main.swift") || file.contains("Adapter") || file.contains("Connection")
            || file.contains("ProviderTokenFile")
    }
}
