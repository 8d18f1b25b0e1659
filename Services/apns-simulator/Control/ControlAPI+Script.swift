import JSON

// MARK: - Scripted answers

extension ControlAPI {
    private static let longestDelay: Int64 = 600_000

    func script(
        _ request: ControlRequest, _ simulator: inout Simulator
    ) throws(ControlFault) -> ControlReply {
        switch request.method {
        case "POST":
            let root = try ControlFields.document(request.body).root
            var rules: [ScriptedAnswer] = []
            for element in root.elements.map({ Array($0) }) ?? [root] { rules.append(try rule(element)) }
            simulator.script.add(rules)
        case "DELETE": simulator.script.clear()
        case "GET": break
        default: throw ControlFault(status: 405, message: "GET, POST or DELETE is expected")
        }
        return Self.reply { [entries = simulator.script.entries] writer in
            writer.array("rules") {
                for entry in entries {
                    $0.object {
                        $0.member("met", entry.met)
                        $0.member("applied", entry.applied)
                    }
                }
            }
        }
    }

    private func rule(_ value: JSONValue) throws(ControlFault) -> ScriptedAnswer {
        let fields = try ControlFields(
            value,
            known: [
                "match", "nth", "every", "count", "action", "status", "reason", "timestamp",
                "delayMilliseconds", "deliver", "streamLimit",
            ])
        var rule = ScriptedAnswer(match: try match(fields["match"]), action: try action(fields))
        rule.nth = Int(try fields.int("nth", in: 1...Int64(Int32.max)) ?? 1)
        rule.every = Int(try fields.int("every", in: 1...Int64(Int32.max)) ?? 1)
        rule.count = try fields.int("count", in: 1...Int64(Int32.max)).map { Int($0) }
        rule.delayMilliseconds = try fields.int("delayMilliseconds", in: 0...Self.longestDelay) ?? 0
        rule.delivers = try fields.bool("deliver") ?? false
        rule.streamLimit = try fields.int("streamLimit", in: 0...1_000_000).map { Int($0) }
        return rule
    }

    private func match(_ value: JSONValue?) throws(ControlFault) -> ScriptedAnswer.Match {
        let fields = try ControlFields(
            value, known: ["token", "hwid", "event", "environment", "connection", "channel"])
        return ScriptedAnswer.Match(
            token: try fields.string("token")?.lowercased(), hardwareID: try fields.string("hwid"),
            event: try fields.string("event"), environment: try fields.environment("environment"),
            connection: try fields.int("connection", in: 1...Int64(Int32.max)).map { Int($0) },
            channel: try fields.string("channel"))
    }

    private func action(_ fields: ControlFields) throws(ControlFault) -> ScriptedAnswer.Action {
        let reason = try fields.string("reason")
        switch try fields.string("action") {
        case nil, "answer": break
        case "pass": return .pass
        case "never": return .silence
        case "refuse": return .refuse
        case "reset": return .reset
        case "goaway": return .goAway(reason: reason ?? "Shutdown")
        case "close": return .close
        default:
            throw ControlFault(
                message: "action: answer, pass, never, refuse, reset, goaway or close is expected")
        }
        let known = reason.flatMap(APNsReason.init(wireName:))
        guard let status = try fields.int("status", in: 200...599).map({ Int($0) }) ?? known?.status else {
            guard !fields.has("action"), reason == nil else {
                throw ControlFault(message: "status: missing")
            }
            return .pass
        }
        return .answer(
            status: status, reason: reason, timestampMilliseconds: try fields.int("timestamp"))
    }
}

// MARK: - Counters and arrivals

extension ControlAPI {
    private static let arrivalsMax: Int64 = 10_000

    func counters(_ simulator: Simulator) -> ControlReply {
        Self.reply { writer in
            writer.object("answers") {
                for answer in simulator.counters.answers { $0.member(answer.name, answer.count) }
            }
            writer.object("pushes") { Self.writePushes(simulator.fleet.tally, &$0) }
            writer.member("duplicates", simulator.fleet.tally.duplicates)
            writer.member("providerTokens", simulator.rules.distinctProviderTokens)
            writer.object("streams") {
                $0.member("silent", simulator.counters.silent)
                $0.member("reset", simulator.counters.reset)
                $0.member("goneAway", simulator.counters.goneAway)
                $0.member("closed", simulator.counters.closed)
            }
            writer.object("connections") {
                $0.member("opened", simulator.counters.connectionsOpened)
                $0.member("open", simulator.counters.connectionsOpen)
            }
            writer.object("registrations") { Self.writeRegistrations(simulator.fleet.registrations, &$0) }
            writer.member("phones", simulator.fleet.phones.count)
            writer.object("channels") {
                $0.member("count", simulator.channels.count)
                $0.member("calls", simulator.counters.channelCalls)
                $0.member("broadcasts", simulator.counters.broadcasts)
                $0.member("reached", simulator.counters.reached)
            }
        }
    }

    private static func writePushes(_ tally: FleetTally, _ writer: inout JSONWriter) {
        for event in PushEvent.allCases {
            writer.object(String(describing: event)) {
                for verdict in DeliveryVerdict.allCases where tally[event, verdict] > 0 {
                    $0.member(verdict.reason, tally[event, verdict])
                }
            }
        }
    }

    private static func writeRegistrations(_ queue: RegistrationQueue, _ writer: inout JSONWriter) {
        writer.member("accepted", queue.counts.accepted)
        writer.member("refused", queue.counts.refused)
        writer.member("failed", queue.counts.failed)
        writer.member("abandoned", queue.counts.abandoned)
        writer.member("waiting", queue.waiting)
        writer.member("underWay", queue.underWay)
    }

    func arrivals(_ request: ControlRequest, _ simulator: Simulator) throws(ControlFault) -> ControlReply {
        guard let since = Int64(request.query["since"] ?? "0"),
            let limit = Int64(request.query["limit"] ?? "10000"),
            since >= 0, limit > 0
        else { throw ControlFault(message: "since and limit: integers are expected") }
        let list = simulator.arrivals.list(since: since, count: Int(min(limit, Self.arrivalsMax)))
        let hasRefused = request.query["refused"] == "1"
        return Self.reply { writer in
            writer.member("first", list.first)
            writer.member("next", list.first + Int64(list.arrivals.count))
            writer.member("newest", simulator.arrivals.next)
            writer.array("arrivals") {
                for arrival in list.arrivals where hasRefused || arrival.verdict != nil {
                    Self.write(arrival, simulator.fleet, &$0)
                }
            }
        }
    }

    private static func write(
        _ arrival: Arrivals.Arrival, _ fleet: PhoneFleet, _ writer: inout JSONWriter
    ) {
        writer.object {
            $0.member("apnsId", PushID(high: arrival.idHigh, low: arrival.idLow).text)
            if let channel = arrival.channel { $0.member("channel", channel) }
            if let reference = arrival.reference.flatMap(TokenReference.init(packed:)),
                fleet.knows(reference)
            {
                let phone = fleet.phone(of: reference)
                $0.member("token", fleet.token(reference))
                $0.member("hwid", fleet.group(of: phone).hardwareID(of: phone))
            }
            $0.member("receivedAtMicroseconds", arrival.receivedAtMicroseconds)
            $0.member("event", String(describing: arrival.event))
            if let verdict = arrival.verdict { $0.member("verdict", verdict.reason) }
            if let marker = arrival.marker { $0.member("n", marker) }
            $0.member("connection", arrival.connection)
            if arrival.status > 0 { $0.member("status", arrival.status) }
            if arrival.delayMilliseconds > 0 { $0.member("delayMilliseconds", arrival.delayMilliseconds) }
        }
    }
}
