struct LoadCommand: Subcommand {
    static let name = "load"; static let summary = "l"; static let usage = "";
    static var options: [CommandOption<LoadCommand>] { [] };
    func run(on console: Console) throws(CommandFailure) -> Verdict { .good }
}
