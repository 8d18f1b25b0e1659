import Arguments

/// A command that calls the HTTP door.
protocol DoorCaller: Subcommand {
    var door: Door { get set }
}

extension Door {
    /// The door of `liveline up --simulator`.
    static let trial = Door(
        url: "http://127.0.0.1:8080", application: TrialSetup.application, auth: TrialSetup.apiToken)
}

extension DoorCaller {
    /// The options that say where the door is and who calls.
    static var doorOptions: [CommandOption<Self>] {
        [
            CommandOption(
                name: "--url", placeholder: "URL", help: "the HTTP door (http://127.0.0.1:8080)",
                expects: "a URL with http:// or https://"
            ) { command, value in
                guard let url = URLText.base(value) else { return false }
                command.door.url = url
                return true
            },
            .text(
                "--application", "CODE", "the application's code (\(TrialSetup.application))",
                \.door.application),
            .text("--auth", "TOKEN", "its API token (that of `liveline up --simulator`)", \.door.auth),
            .text("--ca", "FILE", "certificates to trust instead of the system's, PEM", \.door.caFile),
        ]
    }
}

/// A command that calls the control port of a simulator.
protocol ControlCaller: Subcommand {
    var control: SimulatorControl { get set }
}

extension SimulatorControl {
    /// The simulator of `liveline up --simulator`.
    static let trial = SimulatorControl(url: "http://127.0.0.1:2198")
}

extension ControlCaller {
    /// The option that says where the simulator is.
    static var controlOption: CommandOption<Self> {
        CommandOption(
            name: "--control", placeholder: "URL",
            help: "the simulator's control port (http://127.0.0.1:2198)",
            expects: "a URL with http:// or https://"
        ) { command, value in
            guard let url = URLText.base(value) else { return false }
            command.control.url = url
            return true
        }
    }
}

extension URLText {
    /// A URL that paths can be added to; nil if it is none.
    static func base(_ text: String) -> String? {
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else { return nil }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
