import Arguments
import JSON
import Service

/// `liveline demo`: the whole product in half a minute, seen from three phones.
struct DemoCommand: Subcommand {
    static let name = "demo"
    static let summary = "shows the whole pipeline with three modelled phones and verifies it"
    static let usage = "[--interval N]"
    static let details = """
        Starts all services with a simulator in a temporary directory, and makes the calls that an operator's server
        makes: a filter, a start by it, two updates, an end. One phone gets a new token in between. Ends with 1 unless
        each phone showed: started, updated twice, ended.
        """

    var intervalSeconds: Int64 = 2

    static var options: [CommandOption<DemoCommand>] {
        [
            .number(
                "--interval", "seconds between pushes of a phone's activity (2; 15 by default elsewhere)",
                1...60,
                \.intervalSeconds)
        ]
    }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        let own = try OwnDeployment(intervalSeconds: intervalSeconds, sink: Progress(console).graveLines)
        defer { own.stop() }
        let loop = own.loop()
        try own.waitUntilReady(loop)
        console.say("five services and an APNs simulator are ready at \(own.door.url)")
        console.say(
            "(an activity takes a push each \(intervalSeconds) s here; without this setting each 15 s)")
        return try Demo(door: own.door, control: own.control, loop: loop, console: console).run()
    }
}
