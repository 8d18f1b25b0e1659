import Contracts

/// What the command line of a service says.
public struct Options: Sendable, Equatable {
    /// `--config`, or `LIVELINE_CONFIG`: the configuration file; without one the defaults hold.
    public var configurationPath: String?
    /// `--run`: the run directory.
    public var runDirectory: String?
    /// `--data`: the data directory.
    public var dataDirectory: String?
    /// `--instance`, or `LIVELINE_INSTANCE`: which process of its service this is; 1 unless given.
    public var instance = 1
    /// What is to be done.
    public var mode = Mode.bus
    /// `--clock`: which clock a service that runs alone goes by.
    public var clock = ClockChoice.real
    /// `--store`: the store of a service that runs alone; nil keeps it in memory.
    public var storePath: String?
    /// The options that the service declared itself, by their names without dashes.
    public var others: [String: String] = [:]

    /// What a process does.
    public enum Mode: Sendable, Equatable {
        /// Works on the bus.
        case bus
        /// `--stdio`: reads messages on standard input and writes what follows on standard output.
        case stdio
        /// `--help`.
        case help
        /// `--version`.
        case version
    }

    /// A clock for a service that runs alone.
    public enum ClockChoice: Sendable, Equatable {
        /// The computer's.
        case real
        /// One that lines of input move, from an instant in milliseconds since 1970 or from now.
        case manual(startMilliseconds: Int64?)
    }

    /// The defaults.
    public init() {}

    /// Reads a command line.
    ///
    /// An option's value follows it as the next word or behind `=`. An option beats the environment.
    ///
    /// - Parameters:
    ///   - arguments: the words behind the program's name.
    ///   - environment: the process's environment.
    ///   - declared: the options of the service itself.
    /// - Throws: `ServiceFailure` with `ExitCode.usage`, naming the first word that makes no sense.
    public init(
        _ arguments: [String], environment: [String: String] = [:], declared: [OptionDeclaration] = []
    ) throws(ServiceFailure) {
        configurationPath = environment["LIVELINE_CONFIG"]
        if let text = environment["LIVELINE_INSTANCE"] {
            instance = try Options.instance(text, "LIVELINE_INSTANCE")
        }
        var words = Words(arguments)
        while let name = try words.nextOption() {
            try take(name, &words, declared)
        }
    }

    private mutating func take(
        _ name: String, _ words: inout Words, _ declared: [OptionDeclaration]
    ) throws(ServiceFailure) {
        switch name {
        case "config": configurationPath = try words.value(of: name)
        case "run": runDirectory = try words.value(of: name)
        case "data": dataDirectory = try words.value(of: name)
        case "instance": instance = try Options.instance(try words.value(of: name), "--instance")
        case "stdio": try setMode(.stdio, &words, name)
        case "help": try setMode(.help, &words, name)
        case "version": try setMode(.version, &words, name)
        case "clock": clock = try Options.clock(try words.value(of: name))
        case "store":
            let value = try words.value(of: name)
            storePath = value == "memory" ? nil : value
        default:
            guard declared.contains(where: { $0.name == name }) else {
                throw ServiceFailure(.usage, "usage", "unknown option --\(name)")
            }
            others[name] = try words.value(of: name)
        }
    }

    private mutating func setMode(
        _ mode: Mode, _ words: inout Words, _ name: String
    ) throws(ServiceFailure) {
        try words.refuseValue(of: name)
        // Help and version are answered whatever else is asked.
        if self.mode == .bus || mode == .help { self.mode = mode }
        if self.mode == .stdio, mode == .version { self.mode = mode }
    }

    private static func instance(_ text: String, _ name: String) throws(ServiceFailure) -> Int {
        guard let number = Int(text), (1...InstanceName.numberMax).contains(number) else {
            throw ServiceFailure(
                .usage, "usage", "\(name) takes a number from 1 to \(InstanceName.numberMax)")
        }
        return number
    }

    private static func clock(_ text: String) throws(ServiceFailure) -> ClockChoice {
        if text == "real" { return .real }
        if text == "manual" { return .manual(startMilliseconds: nil) }
        guard text.hasPrefix("manual:"), let seconds = Int64(text.dropFirst("manual:".count)),
            (0...Options.clockSecondsMax).contains(seconds)
        else {
            throw ServiceFailure(
                .usage, "usage", "--clock takes real, manual or manual: and seconds since 1970")
        }
        return .manual(startMilliseconds: seconds * 1000)
    }

    /// The year 9999, in seconds since 1970.
    private static let clockSecondsMax: Int64 = 253_402_300_799
}

/// The words of a command line, one after the other.
private struct Words {
    private var rest: ArraySlice<String>
    private var inlineValue: String?

    init(_ arguments: [String]) {
        rest = arguments[...]
    }

    /// The name of the next option, without dashes; nil at the end.
    mutating func nextOption() throws(ServiceFailure) -> String? {
        guard let word = rest.popFirst() else { return nil }
        guard word.hasPrefix("--"), word.count > 2 else {
            throw ServiceFailure(.usage, "usage", "unexpected argument \(word)")
        }
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        inlineValue = parts.count > 1 ? String(parts[1]) : nil
        return String(parts[0])
    }

    mutating func value(of name: String) throws(ServiceFailure) -> String {
        guard let value = inlineValue ?? rest.popFirst(), !value.isEmpty else {
            throw ServiceFailure(.usage, "usage", "--\(name) needs a value")
        }
        return value
    }

    func refuseValue(of name: String) throws(ServiceFailure) {
        guard inlineValue == nil else {
            throw ServiceFailure(.usage, "usage", "--\(name) takes no value")
        }
    }
}
