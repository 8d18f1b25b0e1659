import Arguments
import JSON
import Service

/// `liveline phones`: the modelled phones of a simulator.
struct PhonesCommand: ControlCaller {
    static let name = "phones"
    static let summary = "creates the simulator's phones and shows what they show"
    static let usage = "[create N | show [HWID] | rotate HWID | dismiss HWID] [options]"

    /// What is to be done.
    enum Action: String { case create, show, rotate, dismiss }

    var control = SimulatorControl.trial
    var action: Action?
    var operand: String?
    var application = TrialSetup.application
    var bundleID = TrialSetup.bundleID
    var deviceToken = TrialSetup.deviceToken
    var prefix = "phone-"
    var tags: String?
    var types: [String] = []
    var system: String?
    var activity: String?
    var tokenDelayMilliseconds: Int64?

    static var options: [CommandOption<PhonesCommand>] {
        [
            controlOption,
            .text(
                "--prefix", "TEXT", "what the hardware ids of new or shown phones begin with (phone-)",
                \.prefix),
            .text(
                "--application", "CODE", "create: the application (\(TrialSetup.application))", \.application),
            .text("--bundle", "ID", "create: its bundle id (\(TrialSetup.bundleID))", \.bundleID),
            .text(
                "--device-token", "TOKEN",
                "create: what the app calls with (that of `liveline up --simulator`)",
                \.deviceToken),
            .text("--tags", "JSON", "create: tags; {n} stands for the phone's number", \.tags),
            .list(
                "--types", "A,B", "create: attributes types of the app (\(TrialSetup.attributesType))",
                \.types),
            .text("--os", "VERSION", "create: the iOS version (as the simulator has it)", \.system),
            .number(
                "--token-delay", "create: ms from a start to its token (0)", 0...86_400_000,
                \.tokenDelayMilliseconds),
            .text("--activity", "ID", "rotate, dismiss: the activity", \.activity),
        ]
    }

    static let details = """
        show without a hardware id sums up all phones of the prefix; with one it prints what the phone has shown.
        """

    mutating func take(_ operand: String) -> Bool {
        if action == nil {
            action = Action(rawValue: operand)
            return action != nil
        }
        guard self.operand == nil else { return false }
        self.operand = operand
        return true
    }

    var faults: [String] {
        switch action {
        case nil, .show: []
        case .create: operand.flatMap { Int($0) } == nil ? ["create: a number of phones is expected"] : []
        case .rotate: operand == nil ? ["rotate: a hardware id is expected"] : []
        case .dismiss:
            (operand == nil ? ["dismiss: a hardware id is expected"] : [])
                + (activity == nil ? ["--activity: missing"] : [])
        }
    }

    func run(on console: Console) throws(CommandFailure) -> Verdict {
        switch action ?? .show {
        case .create: try create(console)
        case .show: try show(console)
        case .rotate, .dismiss: try act(console)
        }
        return .good
    }

    private func create(_ console: Console) throws(CommandFailure) {
        let tags = try tags.map { text throws(CommandFailure) in
            do throws(JSONError) {
                return try JSONDocument(text: text).root
            } catch {
                throw CommandFailure(.data, "--tags: \(error)")
            }
        }
        let answer = try control.perform(
            control.post("/phones") { phones in
                phones.member("count", operand.flatMap { Int($0) } ?? 1)
                phones.member("prefix", prefix)
                phones.member("application", application)
                phones.member("bundleId", bundleID)
                phones.member("deviceToken", deviceToken)
                phones.member("attributesTypes", types.isEmpty ? [TrialSetup.attributesType] : types)
                if let tags { phones.member("tags", tags) }
                if let system { phones.member("osVersion", system) }
                if let delay = tokenDelayMilliseconds { phones.member("tokenDelayMilliseconds", delay) }
            })
        console.say("\(answer["first"]?.string ?? "") to \(answer["last"]?.string ?? "")")
    }

    private func show(_ console: Console) throws(CommandFailure) {
        guard let operand else {
            let path = "/phones?prefix=\(URLText.segment(prefix))"
            return console.say(Self.summary(try control.perform(control.get(path))))
        }
        guard let phone = PhoneView(try control.perform(control.get(SimulatorControl.phone(operand)))) else {
            throw CommandFailure(.data, "the simulator's answer is no phone")
        }
        console.say(phone.text)
    }

    private func act(_ console: Console) throws(CommandFailure) {
        let path = "\(SimulatorControl.phone(operand ?? ""))/\(action == .rotate ? "rotate" : "dismiss")"
        let answer = try control.perform(
            control.post(path) { if let activity { $0.member("activity", activity) } })
        if let phone = PhoneView(answer) { console.say(phone.text) }
    }

    /// What many phones have in sum.
    static func summary(_ answer: JSONValue) -> String {
        var table = Table([("", .left), ("", .right)])
        for name in [
            "phones", "offline", "pushes", "duplicates", "active", "ended", "dismissed", "withToken",
        ] {
            table.add(name, answer[name]?.int64.map { Numbers.grouped(Int($0)) } ?? "-")
        }
        let states = answer["states"]?.elements?.map { state in
            let text = state["contentState"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
            return "\(state["count"]?.int64 ?? 0) show \(text)"
        }
        return ([String(table.text.drop { $0 == "\n" })] + (states ?? [])).joined(separator: "\n")
    }
}
