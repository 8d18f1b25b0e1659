import Arguments
import Service
import Web

/// `liveline import`: sends a file of devices to the door.
struct ImportCommand: DoorCaller {
    static let name = "import"
    static let summary = "registers the devices of a file, one JSON object a line"
    static let usage = "FILE|- [options]"

    var door = Door.trial
    var file: String?

    static var options: [CommandOption<ImportCommand>] { doorOptions }

    static let details = """
        A line has hwid, and any of push_token, platform, environment, os_version, language, app_version,
        device_model, timezone, user_id, tags, frequent_pushes, registered_at, push_to_start_tokens (a list of token,
        attributes_type) and activity_tokens (a list of token, live_activity_id). It is read as it is sent, from
        standard input with -. Ends with 1 if lines are refused; what is wrong with the first 100 is shown.
        """

    mutating func take(_ operand: String) -> Bool {
        guard file == nil else { return false }
        file = operand
        return true
    }

    var faults: [String] { file == nil ? ["FILE: missing"] : [] }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        let path = file ?? "-"
        guard let reader = FileReader(path) else {
            throw CommandFailure(.data, "\(path): cannot be read")
        }
        let answer = try send(reader)
        console.say(answer.text)
        if let failure = answer.failure { throw failure }
        return answer.refused == 0 ? .good : .bad
    }

    private func send(_ reader: FileReader) throws(CommandFailure) -> ImportAnswer {
        let interruption = Interruption()
        let loop = CallLoop(connectionsMax: 1, with: [interruption.signals]) { interruption.failure }
        return try ImportAnswer(try loop.call(ImportCall.request(door), body: { reader.read($0) }))
    }
}
