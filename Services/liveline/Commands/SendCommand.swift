import Arguments
import JSON
import Service
import Web

/// `liveline send`: one message through the HTTP door.
struct SendCommand: DoorCaller {
    static let name = "send"
    static let summary = "starts, updates or ends an activity through the HTTP door"
    static let usage = "start|update|end --activity ID | --channel ID --state JSON [options]"

    var door = Door.trial
    var event: LiveActivityCall.Event?
    var activity: String?
    var channel: String?
    var state: String?
    var filter: String?
    var devices: [String] = []
    var users: [String] = []
    var attributesType: String?
    var attributes = "{}"
    var content: String?
    var title: String?
    var alert: String?
    var relevanceScore: Int64?
    var staleAtSeconds: Int64?
    var dismissalSeconds: Int64?
    var timestampSeconds: Int64?
    var waits = false
    var waitSeconds: Int64 = 60

    static var options: [CommandOption<SendCommand>] {
        doorOptions + [
            .text("--activity", "ID", "the activity's id", \.activity),
            .text(
                "--channel", "ID",
                "start: the broadcast channel to bind; update and end: in the place of --activity",
                \.channel),
            .text("--state", "JSON", "the content state; - reads it from the standard input", \.state),
            .text("--filter", "NAME", "start: on the devices of a filter", \.filter),
            .list("--devices", "A,B", "start: on these devices (hardware ids or push tokens)", \.devices),
            .list("--users", "A,B", "start: on the devices of these users", \.users),
            .text("--type", "TYPE", "start: the attributes type", \.attributesType),
            .text("--attributes", "JSON", "start: the attributes ({})", \.attributes),
            .text("--content", "TEXT", "start: the text of the alert, and of the fallback", \.content),
            .text("--title", "TEXT", "start: its title", \.title),
            .text("--alert", "JSON", "an alert of its own: an object or a string", \.alert),
            .number("--relevance-score", "which activity is shown first", 0...Int64.max, \.relevanceScore),
            .number(
                "--stale-date", "when the state is out of date, UNIX seconds", 0...Int64.max, \.staleAtSeconds
            ),
            .number(
                "--dismissal-date", "when it leaves the screen, UNIX seconds", 0...Int64.max,
                \.dismissalSeconds),
            .number(
                "--timestamp", "which of two states is newer, UNIX seconds", 0...Int64.max, \.timestampSeconds
            ),
            .flag("--wait", "wait until every delivery has an outcome", \.waits),
            .number("--timeout", "seconds to wait at most (60)", 1...86_400, \.waitSeconds),
        ]
    }

    static let details = """
        Prints the message's code. With --wait also its counts; ends with 75 when it is not settled in time.
        """

    mutating func take(_ operand: String) -> Bool {
        guard event == nil else { return false }
        event = LiveActivityCall.Event(rawValue: operand)
        return event != nil
    }

    var faults: [String] {
        var faults: [String] = []
        if event == nil { faults.append("start, update or end: missing") }
        if activity == nil, event == .start || channel == nil { faults.append("--activity: missing") }
        if activity != nil, channel != nil, event != .start {
            faults.append("--activity, --channel: one of them is needed")
        }
        if state == nil { faults.append("--state: missing") }
        guard event == .start else { return faults }
        let given = [filter != nil, !devices.isEmpty, !users.isEmpty].filter { $0 }.count
        if given != 1 { faults.append("--filter, --devices, --users: one of them is needed") }
        if attributesType == nil { faults.append("--type: missing") }
        return faults
    }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        let result: Result<HTTPClientResponse, HTTPClientError>
        let request = door.request(try call())
        do throws(HTTPClientError) {
            result = .success(try HTTPClient.perform(request))
        } catch {
            result = .failure(error)
        }
        let codes = try DoorAnswer(result).get()
        for code in codes {
            console.say(code)
            if waits { try wait(code, console) }
        }
        return .good
    }

    /// What the options ask for.
    func call() throws(CommandFailure) -> LiveActivityCall {
        var call = LiveActivityCall(
            event ?? .update, activity: activity ?? "",
            state: try Self.json("--state", state ?? "", [.object]))
        call.alert = try alert.map { value throws(CommandFailure) in
            try Self.json("--alert", value, [.object, .string])
        }
        call.channel = channel
        call.relevanceScore = relevanceScore
        call.staleAtSeconds = staleAtSeconds
        call.dismissalSeconds = dismissalSeconds
        call.timestampSeconds = timestampSeconds
        guard event == .start else { return call }
        call.attributesType = attributesType
        call.attributes = try Self.json("--attributes", attributes, [.object])
        call.content = content
        call.title = title
        call.audience = filter.map { .filter($0) } ?? (devices.isEmpty ? .users(users) : .devices(devices))
        return call
    }

    private static func json(
        _ name: String, _ value: String, _ kinds: [JSONValue.Kind]
    ) throws(CommandFailure) -> [UInt8] {
        let text = value == "-" ? standardInput() : value
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(text: text).root
        } catch {
            throw CommandFailure(.data, "\(name): \(error)")
        }
        guard kinds.contains(root.kind) else {
            throw CommandFailure(.data, "\(name): must be \(kinds.map { "\($0)" }.joined(separator: " or "))")
        }
        return root.bytes
    }

    private static func standardInput() -> String {
        var text = ""
        while let line = readLine(strippingNewline: false) { text += line }
        return text
    }

    private func wait(_ code: String, _ console: Console) throws(CommandFailure) {
        let end = MonotonicClock.nowMilliseconds() + waitSeconds * 1_000
        var status = try MessageStatus.fetch(code, from: door)
        while !status.isSettled {
            guard !status.isLost else {
                throw CommandFailure(.unavailable, "\(code): lost: the ledger that had it is gone")
            }
            guard MonotonicClock.nowMilliseconds() < end else {
                throw CommandFailure(
                    .temporary, "\(code): not settled after \(waitSeconds) s; \(status.text)")
            }
            Poller([]).run(timeoutMilliseconds: 100) { false }
            status = try MessageStatus.fetch(code, from: door)
        }
        console.say(status.text)
    }
}
