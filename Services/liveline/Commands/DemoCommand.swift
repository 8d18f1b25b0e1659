struct DemoCommand: Subcommand {
    static let name = "demo"; static let summary = "l"; static let usage = "";
    static var options: [CommandOption<DemoCommand>] { [] };
    func run(on console: Console) throws(CommandFailure) -> Verdict { .good }
}
