import Arguments
import Service

/// One of the things that `liveline` does: its members are what the command line says.
protocol Subcommand {
    /// The word behind `liveline`.
    static var name: String { get }
    /// What it does, in one line.
    static var summary: String { get }
    /// What follows its name, for the help.
    static var usage: String { get }
    /// What the help says below the options; empty for nothing.
    static var details: String { get }
    /// All options in the order in which the help shows them.
    static var options: [CommandOption<Self>] { get }

    /// The defaults.
    init()

    /// Takes a word that is no option; false when there is no place for it.
    mutating func take(_ operand: String) -> Bool

    /// What is wrong with the whole, each in one line that names the member.
    var faults: [String] { get }

    /// Does it.
    ///
    /// - Returns: whether all is as it should be.
    /// - Throws: `CommandFailure` with how the process ends if it cannot be done.
    func run(on console: Console) throws(CommandFailure) -> Verdict
}

extension Subcommand {
    static var details: String { "" }

    mutating func take(_ operand: String) -> Bool { false }

    var faults: [String] { [] }
}

/// Why a subcommand cannot do its work.
struct CommandFailure: Error, Equatable {
    /// How the process ends.
    var code: ExitCode
    /// What went wrong, one line each.
    var messages: [String]

    init(_ code: ExitCode, _ messages: String...) {
        self.code = code
        self.messages = messages
    }

    init(_ code: ExitCode, _ messages: [String]) {
        self.code = code
        self.messages = messages
    }
}

/// Whether what a command looked at is as it should be; the exit code of a command that could do its work.
enum Verdict: Int32, Sendable {
    case good = 0
    case bad = 1
}
