import Arguments
import Service

/// `liveline check`: every fault of a configuration file at once.
struct CheckCommand: Subcommand {
    static let name = "check"
    static let summary = "reports every fault in a configuration file at once"
    static let usage = "FILE"
    static var options: [CommandOption<CheckCommand>] {
        []
    }
    static let details = """
        Also looks into the key files and certificates that it names. Ends with 78 if there is a fault; what is allowed
        but probably not meant is a warning.
        """

    var file: String?

    mutating func take(_ operand: String) -> Bool {
        guard file == nil else { return false }
        file = operand
        return true
    }

    var faults: [String] { file == nil ? ["FILE: missing"] : [] }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        var options = Options()
        options.configurationPath = file
        let (read, found) = ConfigurationFile.check(options)
        let files = read.map { NamedFiles($0.configuration) }
        let warnings = (read?.warnings.map(\.description) ?? []) + (files?.warnings ?? [])
        for warning in warnings { console.say("warning: \(warning)") }
        let faults = found + (files?.faults ?? [])
        guard faults.isEmpty else { throw CommandFailure(.configuration, faults) }
        let count = read?.configuration.applications.count ?? 0
        console.say("\(file ?? ""): in order, \(count) application\(count == 1 ? "" : "s")")
        return .good
    }
}
