import Service

/// All that `liveline` does, in the order in which the help shows it.
enum Subcommands {
    static var all: [any Subcommand.Type] {
        [
            UpCommand.self, CheckCommand.self, SendCommand.self, StatusCommand.self, PhonesCommand.self,
            ImportCommand.self, LoadCommand.self, ChaosCommand.self, DoctorCommand.self, DemoCommand.self,
        ]
    }

    static let version = "liveline \(Self.number)"
    private static let number = "1.0.0"

    /// Does what a command line asks for.
    ///
    /// - Parameters:
    ///   - arguments: the words behind the program's name.
    ///   - console: where results and remarks go.
    /// - Returns: how the process ends.
    static func run(_ arguments: [String], on console: Console) -> Int32 {
        guard let name = arguments.first else {
            console.remark(help)
            return ExitCode.usage.rawValue
        }
        if name == "--help" || name == "help" { return answer(help, console) }
        if name == "--version" { return answer(version, console) }
        guard let command = all.first(where: { $0.name == name }) else {
            console.remark("liveline: \(name): no such command; liveline --help lists them")
            return ExitCode.usage.rawValue
        }
        return run(command, Array(arguments.dropFirst()), console)
    }

    private static func answer(_ text: String, _ console: Console) -> Int32 {
        console.say(text)
        return ExitCode.stopped.rawValue
    }

    private static func run<Command: Subcommand>(
        _: Command.Type, _ words: [String], _ console: Console
    ) -> Int32 {
        do throws(CommandFailure) {
            switch try Command.parse(words) {
            case .help: return answer(Command.help, console)
            case .command(let command): return try command.run(on: console).rawValue
            }
        } catch {
            for message in error.messages { console.remark("liveline \(Command.name): \(message)") }
            if error.code == .usage {
                console.remark("liveline \(Command.name): --help shows what it takes")
            }
            return error.code.rawValue
        }
    }

    static var help: String {
        let width = all.map { $0.name.count }.max() ?? 0
        let lines = all.map { command in
            let gap = String(repeating: " ", count: width - command.name.count)
            return "  \(command.name)\(gap)  \(command.summary)"
        }
        return """
            usage: liveline COMMAND [options]

            \(lines.joined(separator: "\n"))

            liveline COMMAND --help shows what a command takes.
            Exit codes: 0 done, 1 what was verified does not hold, 64 usage, 65 refused or bad input, 69 a service is
            not there, 70 a mistake of the program, 75 try again, 78 configuration.
            """
    }
}
