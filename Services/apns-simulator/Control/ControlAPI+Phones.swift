import JSON

// MARK: - Creating phones

extension ControlAPI {
    private static let creationMembers = [
        "count", "prefix", "hwid", "first", "application", "bundleId", "environment", "osVersion", "tags",
        "attributesTypes", "sharedStartToken", "registerWith", "deviceToken", "tokenDelayMilliseconds",
        "allowsActivities", "stateMembers", "expect", "activity", "tokens",
    ]

    func createPhones(
        _ request: ControlRequest, _ simulator: inout Simulator, _ now: Int64
    ) throws(ControlFault) -> ControlReply {
        let fields = try ControlFields(body: request.body, known: Self.creationMembers)
        let hardwareID = try fields.string("hwid")
        let count = Int(try fields.int("count", in: 1...Self.phonesMax) ?? 1)
        guard hardwareID == nil || count == 1 else { throw ControlFault(message: "hwid: for one phone only") }
        let given = try fields.string("prefix")
        let prefix = try fields.required("prefix", hardwareID ?? given)
        let traits = try self.traits(fields, prefix: prefix, simulator.fleet.settings)
        let tokens = try ControlFields(fields["tokens"], known: ["device", "start"])
        let activity = try LocalActivity(fields["activity"])
        let expected = try fields.strings("expect") ?? []
        let first = try fields.int("first", in: 0...Int64(UInt32.max)).map { Int($0) }
        let range = simulator.fleet.add(
            traits, count: count, firstNumber: first, isSingle: hardwareID != nil, nowMilliseconds: now)
        guard let range else { throw ControlFault(status: 409, message: "a phone of that hwid exists") }
        try name(tokens, range, &simulator.fleet)
        for phone in range {
            let number = simulator.fleet.group(of: phone).number(of: phone)
            if !expected.isEmpty {
                simulator.fleet.expected[UInt32(phone)] = expected.map { Self.fill($0, number) }
            }
            activity?.start(on: phone, number: number, in: &simulator.fleet, nowMilliseconds: now)
        }
        return Self.reply(201) { [fleet = simulator.fleet] in
            $0.member("count", count)
            $0.member("first", fleet.group(of: range.lowerBound).hardwareID(of: range.lowerBound))
            $0.member("last", fleet.group(of: range.upperBound - 1).hardwareID(of: range.upperBound - 1))
        }
    }

    private func traits(
        _ fields: ControlFields, prefix: String, _ settings: FleetSettings
    ) throws(ControlFault) -> PhoneGroup.Traits {
        var traits = PhoneGroup.Traits(prefix: prefix, application: try fields.string("application") ?? "")
        traits.bundleID = try fields.string("bundleId")
        traits.environment = try fields.environment("environment") ?? .production
        traits.tags = try fields.object("tags")
        traits.attributesTypes = try fields.strings("attributesTypes") ?? []
        traits.sharesStartToken = try fields.bool("sharedStartToken") ?? false
        traits.deviceToken = try fields.string("deviceToken")
        traits.allowsActivities = try fields.bool("allowsActivities") ?? true
        traits.stateMembers = try fields.strings("stateMembers") ?? []
        traits.ingest = fields.has("registerWith") ? try fields.string("registerWith") : ingest
        traits.tokenDelayMilliseconds = Int(
            try fields.int("tokenDelayMilliseconds", in: 0...86_400_000)
                ?? settings.tokenDelayMilliseconds)
        if let text = try fields.string("osVersion") {
            traits.system = try fields.required("osVersion", SystemVersion(text))
        }
        if traits.attributesTypes.count > 16 {
            throw ControlFault(message: "attributesTypes: at most 16")
        }
        return traits
    }

    private func name(
        _ tokens: ControlFields, _ range: Range<Int>, _ fleet: inout PhoneFleet
    ) throws(ControlFault) {
        let device = try tokens.string("device")
        let start = try tokens.string("start")
        guard range.count == 1 || (device == nil && start == nil) else {
            throw ControlFault(message: "tokens: for one phone only")
        }
        if let device { fleet.name(fleet.deviceToken(of: range.lowerBound), device) }
        if let start, let first = fleet.startTokens(of: range.lowerBound).first {
            fleet.name(first.reference, start)
        }
    }

    static func fill(_ template: String, _ number: Int) -> String {
        String(decoding: NumberTemplate.fill(Array(template.utf8), number: number), as: UTF8.self)
    }
}

/// An activity that the app starts by itself, as a control call describes it.
struct LocalActivity {
    var id: String
    var attributesType: String
    var state: [UInt8]
    var token: String?
    /// The channel that it listens to in the place of a token.
    var channel: String?

    /// Reads `{"id", "attributesType", "contentState", "token", "channel"}`; nil when there is no value.
    init?(_ value: JSONValue?) throws(ControlFault) {
        guard let value, !value.isNull else { return nil }
        let fields = try ControlFields(
            value, known: ["id", "attributesType", "contentState", "token", "channel"])
        id = try fields.required("id", try fields.string("id"))
        attributesType = try fields.string("attributesType") ?? ""
        state = try fields.object("contentState") ?? []
        token = try fields.string("token")
        channel = try fields.string("channel")
    }

    /// Starts it on a phone; its id may name the phone's number.
    func start(on phone: Int, number: Int, in fleet: inout PhoneFleet, nowMilliseconds: Int64) {
        _ = fleet.startLocally(
            id: ControlAPI.fill(id, number), attributesType: attributesType, state: state, token: token,
            channel: channel, phone: phone, nowMilliseconds: nowMilliseconds)
    }
}
