import Service

/// What a command line asks for.
enum Parsed<Command> {
    case command(Command)
    case help
}

extension Subcommand {
    /// Reads the words behind the subcommand's name.
    ///
    /// A value follows its option as the next word or behind `=`. Behind `--` no word is an option.
    ///
    /// - Throws: `CommandFailure` with every fault in them.
    static func parse(_ arguments: [String]) throws(CommandFailure) -> Parsed<Self> {
        var command = Self()
        var faults: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--help" { return .help }
            if word == "--" {
                faults += rest.compactMap { command.takeOperand($0) }
                break
            }
            let isOption = word.hasPrefix("--")
            let fault = isOption ? command.takeOption(word, &rest) : command.takeOperand(word)
            if let fault { faults.append(fault) }
        }
        if faults.isEmpty { faults = command.faults }
        guard faults.isEmpty else { throw CommandFailure(.usage, faults) }
        return .command(command)
    }

    private mutating func takeOperand(_ word: String) -> String? {
        take(word) ? nil : "\(word): unexpected"
    }

    private mutating func takeOption(_ word: String, _ rest: inout ArraySlice<String>) -> String? {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let option = Self.options.first(where: { $0.name == parts[0] }) else {
            return "\(parts[0]): unknown option"
        }
        guard option.placeholder != nil else {
            guard parts.count == 1, option.apply(&self, "") else { return "\(option.name): takes no value" }
            return nil
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            return "\(option.name): a value is missing"
        }
        return option.apply(&self, value) ? nil : "\(option.name) \(value): \(option.expects) is expected"
    }

    /// What `--help` shows.
    static var help: String {
        let rows = options.map { option in
            ([option.name, option.placeholder].compactMap { $0 }.joined(separator: " "), option.help)
        }
        let all = rows + [("--help", "show this")]
        let width = all.map(\.0.count).max() ?? 0
        let lines = all.map { left, right in
            "  \(left)\(String(repeating: " ", count: width - left.count))  \(right)"
        }
        let head = ["usage: liveline \(name) \(usage)", "", summary.sentence, "", "options:"]
        return (head + lines + (details.isEmpty ? [] : ["", details])).joined(separator: "\n")
    }
}

extension String {
    /// The words as a sentence: a capital at its beginning, a full stop at its end.
    var sentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
