import Arguments
import Contracts
import Service
import Web

/// `liveline status`: how the services, or one message, stand.
struct StatusCommand: DoorCaller {
    static let name = "status"
    static let summary = "shows how the services stand, or one message"
    static let usage = "[CODE] [--config FILE] [--run DIR] | CODE [--url URL …]"

    var door = Door.trial
    var code: String?
    var configurationFile = ConfigurationFile.ofEnvironment
    var runDirectory: String?

    static var options: [CommandOption<StatusCommand>] {
        [
            .text("--config", "FILE", "the configuration of the services", \.configurationFile),
            .text("--run", "DIR", "where their sockets are (as the configuration says)", \.runDirectory),
        ] + doorOptions
    }

    static let details = """
        Without a code it asks each service on its admin address. Ends with 1 if one of them is not ready.
        """

    mutating func take(_ operand: String) -> Bool {
        guard code == nil else { return false }
        code = operand
        return true
    }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        if let code {
            console.say(try MessageStatus.fetch(code, from: namedDoor()).text)
            return .good
        }
        let configuration = try configuration()
        let states = Deployment.goingDown.map { ServiceState.askAll($0, configuration) }
        console.say(ServiceState.table(states.flatMap { $0 }))
        return states.allSatisfy(ServiceState.isReady) ? .good : .bad
    }

    /// The door that an option names, or else the configuration.
    private func namedDoor() throws(CommandFailure) -> Door {
        guard configurationFile != nil, door.url == Door.trial.url else { return door }
        var door = door
        door.url = try configuration().doorURL
        return door
    }

    private func configuration() throws(CommandFailure) -> Configuration {
        var options = Options()
        options.configurationPath = configurationFile
        options.runDirectory = runDirectory
        return try ConfigurationFile.read(options).configuration
    }
}
