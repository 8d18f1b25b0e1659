import Arguments
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
        let known = CommandOptions(options)
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
            let fault = isOption ? known.take(word, &rest, into: &command) : command.takeOperand(word)
            if let fault { faults.append(fault) }
        }
        if faults.isEmpty { faults = command.faults }
        guard faults.isEmpty else { throw CommandFailure(.usage, faults) }
        return .command(command)
    }

    private mutating func takeOperand(_ word: String) -> String? {
        take(word) ? nil : "\(word): unexpected"
    }

    /// What `--help` shows.
    static var help: String {
        let head = ["usage: liveline \(name) \(usage)", "", summary.sentence]
        let list = CommandOptions(options).help
        return
            (head + (list.isEmpty ? [] : ["", "options:"] + list)
            + (details.isEmpty ? [] : ["", details])).joined(separator: "\n")
    }
}

extension String {
    /// The words as a sentence: a capital at its beginning, a full stop at its end.
    var sentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
