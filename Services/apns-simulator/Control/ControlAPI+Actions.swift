import JSON

// MARK: - What a person or a system does with one phone

extension ControlAPI {
    func act(
        _ request: ControlRequest, _ simulator: inout Simulator, _ now: Int64
    ) throws(ControlFault) -> ControlReply {
        let phone = try find(request.segments[1], simulator.fleet)
        let body = request.body
        switch request.segments[2] {
        case "rotate": try rotate(body, phone, &simulator.fleet, now)
        case "dismiss": try dismiss(body, phone, &simulator.fleet, now)
        case "offline": simulator.fleet.phones[phone].flags.insert(.offline)
        case "online": simulator.comeOnline(phone, nowMilliseconds: now)
        case "uninstall": simulator.fleet.lose(phone, .uninstalled, nowMilliseconds: now)
        case "expire": simulator.fleet.lose(phone, .expired, nowMilliseconds: now)
        case "expect": try expect(body, phone, &simulator.fleet)
        case "activities": try startLocally(body, phone, &simulator.fleet, now)
        default: throw ControlFault(status: 404, message: "no such call; --help lists them")
        }
        return describe(phone, &simulator.fleet, now)
    }

    func find(_ hardwareID: String, _ fleet: PhoneFleet) throws(ControlFault) -> Int {
        guard let phone = fleet.phone(hardwareID: hardwareID) else {
            throw ControlFault(status: 404, message: "no such phone")
        }
        return phone
    }

    /// The tokens of one activity, or of the phone itself when the call names none.
    private func rotate(
        _ body: [UInt8], _ phone: Int, _ fleet: inout PhoneFleet, _ now: Int64
    ) throws(ControlFault) {
        let fields = try ControlFields(
            body: body, known: ["activity", "formerTokenSeconds", "registerAfterSeconds"])
        let formerSeconds =
            try fields.int("formerTokenSeconds", in: 0...2_592_000) ?? fleet.settings.formerTokenSeconds
        let afterSeconds = try fields.int("registerAfterSeconds", in: 0...86_400) ?? 0
        guard let id = try fields.string("activity") else {
            guard afterSeconds == 0 else {
                throw ControlFault(message: "registerAfterSeconds: for the token of an activity only")
            }
            fleet.rotatePhone(phone, formerSeconds: formerSeconds, nowMilliseconds: now)
            return
        }
        let slot = try slot(id, phone, fleet)
        fleet.rotateActivity(
            slot, formerSeconds: formerSeconds, registerAfterMilliseconds: afterSeconds.milliseconds,
            nowMilliseconds: now)
    }

    private func dismiss(
        _ body: [UInt8], _ phone: Int, _ fleet: inout PhoneFleet, _ now: Int64
    ) throws(ControlFault) {
        let fields = try ControlFields(body: body, known: ["activity"])
        let id = try fields.required("activity", try fields.string("activity"))
        fleet.dismiss(try slot(id, phone, fleet), nowMilliseconds: now)
    }

    private func expect(_ body: [UInt8], _ phone: Int, _ fleet: inout PhoneFleet) throws(ControlFault) {
        let fields = try ControlFields(body: body, known: ["activities"])
        let ids = try fields.required("activities", try fields.strings("activities"))
        fleet.expected[UInt32(phone), default: []] += ids
    }

    private func startLocally(
        _ body: [UInt8], _ phone: Int, _ fleet: inout PhoneFleet, _ now: Int64
    ) throws(ControlFault) {
        guard let activity = try LocalActivity(ControlFields.document(body).root) else {
            throw ControlFault(message: "an object is expected")
        }
        let number = fleet.group(of: phone).number(of: phone)
        activity.start(on: phone, number: number, in: &fleet, nowMilliseconds: now)
    }

    private func slot(_ id: String, _ phone: Int, _ fleet: PhoneFleet) throws(ControlFault) -> Int {
        guard let slot = fleet.slot(of: phone, activityID: id) else {
            throw ControlFault(status: 404, message: "no such activity on the phone")
        }
        return slot
    }
}
