/// An APNs that behaves as Apple documents, with a modelled phone behind every token.
///
/// **Takes** requests, one after the other, with the connection they came on. **Gives** for each a reaction: an answer
/// or what else happens to the stream, a delay, and a new stream limit if the connection earned one. Scripted answers
/// come first, then the checks of `APNsRules`, then the phones of `PhoneFleet`.
///
/// It does no input or output and reads no clock. Every list in it is bounded but the phones and their activities.
///
/// Known weaknesses: no client certificates, no throttling of whole topics or channels; a push reaches its phone in the
/// moment of the answer.
struct Simulator {
    /// What is not a matter of the rules or the phones.
    struct Settings: Sendable {
        /// Streams that a connection may open at a time once a request with a valid token has succeeded.
        var streamLimit = 1000
        /// Whether a refusal lowers the stream limit to 1 until the next success, as seen in practice.
        var slowsAfterRefusal = false
        /// Whether a token that no phone has is answered with 200 too, as if its phone showed nothing.
        var acceptsAnyToken = false
        /// Weighed refusals after which a connection gets GOAWAY; 0 for never.
        var refusalsMax = 0
        var arrivalsMax = 100_000
        /// Seed of the ids that APNs makes itself.
        var seed: UInt64 = 0
    }

    var settings: Settings
    var rules: APNsRules
    var fleet: PhoneFleet
    var script = Script()
    var counters = Counters()
    var arrivals: Arrivals
    var channels = ChannelBook()
    private var ids: IDSource

    init(settings: Settings = Settings(), rules: APNsRules, fleet: PhoneFleet) {
        self.settings = settings
        self.rules = rules
        self.fleet = fleet
        arrivals = Arrivals(limit: settings.arrivalsMax)
        ids = IDSource(seed: settings.seed)
    }

    /// A new connection to the listener of an environment.
    mutating func open(_ environment: APNsEnvironment) -> ConnectionRecord {
        counters.connectionsOpened += 1
        counters.connectionsOpen += 1
        return ConnectionRecord(environment: environment, ordinal: counters.connectionsOpened)
    }

    /// A connection has ended.
    mutating func close() { counters.connectionsOpen -= 1 }

    /// Sets the counts to zero and forgets the script and the arrivals; the phones only if asked to.
    mutating func reset(phones: Bool) {
        counters.resetCounts()
        rules.resetCount()
        script.clear()
        arrivals.removeAll()
        if phones {
            fleet = PhoneFleet(settings: fleet.settings, era: fleet.era + 1)
            channels = ChannelBook()
        } else {
            fleet.resetTally()
        }
    }

    /// Reacts to a request.
    mutating func receive(
        _ request: APNsRequest, on connection: inout ConnectionRecord, nowMicroseconds: Int64
    ) -> Reaction {
        let id = requestID(request)
        let isBroadcast = APNsRules.isBroadcast(request.path)
        let push = AcceptedPush(request, id.value)
        var arrival = Arrivals.Arrival(
            idHigh: id.value.high, idLow: id.value.low,
            reference: isBroadcast ? nil : fleet.reference(of: request.deviceToken)?.packed,
            receivedAtMicroseconds: nowMicroseconds, event: push.payload?.event ?? .none, verdict: nil,
            marker: push.payload?.marker(member: fleet.settings.markerMember), connection: connection.ordinal,
            channel: isBroadcast ? request.headers.channelID : nil)
        let rule = script.isEmpty ? nil : scriptedRule(request, push, connection)
        var reaction = Reaction(outcome: .silence)
        if rule.map({ $0.delivers || $0.action == .pass }) ?? true {
            (reaction, arrival.verdict) =
                isBroadcast
                ? broadcast(request, push, id, on: &connection, nowMicroseconds)
                : check(request, push, id, on: &connection, nowMicroseconds)
        }
        if let rule { apply(rule, to: &reaction, id, connection) }
        if isBroadcast { reaction.nameAnswer("apns-request-id") }
        if case .answer(let answer) = reaction.outcome { arrival.status = answer.status }
        arrival.delayMilliseconds = reaction.delayMilliseconds
        arrivals.append(arrival)
        return reaction
    }

    /// The id of a request, or one that APNs makes.
    mutating func requestID(_ request: APNsRequest) -> RequestID {
        RequestID(request.headers.requestID ?? request.headers.id) ?? RequestID(ids.next())
    }

    /// An id that no request has.
    mutating func nextID() -> PushID { ids.next() }

    private mutating func apply(
        _ rule: ScriptedAnswer, to reaction: inout Reaction, _ id: RequestID, _ connection: ConnectionRecord
    ) {
        reaction.delayMilliseconds = rule.delayMilliseconds
        if let limit = rule.streamLimit { reaction.streamLimit = limit }
        switch rule.action {
        case .pass: return
        case .answer(let status, let reason, let timestamp):
            counters.countScripted(status: status, reason: reason)
            let body = AnswerBody.refusal(reason: reason, timestampMilliseconds: timestamp)
            reaction.outcome = .answer(
                answer(status, id, connection, body: status == 200 ? [] : body))
        case .silence:
            counters.silent += 1
            reaction.outcome = .silence
        case .refuse:
            counters.reset += 1
            reaction.outcome = .reset(isRefusal: true)
        case .reset:
            counters.reset += 1
            reaction.outcome = .reset(isRefusal: false)
        case .goAway(let reason):
            counters.goneAway += 1
            if rule.delivers {
                reaction.goesAwayBecause = reason
            } else {
                reaction.outcome = .goAway(reason: reason)
            }
        case .close:
            counters.closed += 1
            reaction.outcome = .close
        }
    }

    private mutating func scriptedRule(
        _ request: APNsRequest, _ push: AcceptedPush, _ connection: ConnectionRecord
    ) -> ScriptedAnswer? {
        let hex = request.deviceToken
        let reference = fleet.reference(of: hex)
        let event = push.payload?.eventName
        return script.next { match in
            if let token = match.token, token != String(hex)?.lowercased() { return false }
            if let name = match.event, name != event { return false }
            if let environment = match.environment, environment != connection.environment { return false }
            if let ordinal = match.connection, ordinal != connection.ordinal { return false }
            if let channel = match.channel, channel != request.headers.channelID { return false }
            guard let hardwareID = match.hardwareID else { return true }
            guard let reference, let phone = fleet.phone(hardwareID: hardwareID) else { return false }
            return fleet.knows(reference) && fleet.phone(of: reference) == phone
        }
    }
}

// MARK: - The checks and the phones

extension Simulator {
    private mutating func check(
        _ request: APNsRequest, _ push: AcceptedPush, _ id: RequestID, on connection: inout ConnectionRecord,
        _ nowMicroseconds: Int64
    ) -> (Reaction, DeliveryVerdict?) {
        let now = nowMicroseconds / 1000
        switch rules.judge(request, on: &connection, nowMilliseconds: now) {
        case .refused(let reason): return (refusal(reason, nil, id, on: &connection), nil)
        case .passed(let topic):
            let standing = fleet.standing(
                of: request.deviceToken, topic: topic, environment: connection.environment,
                nowMilliseconds: now)
            if let refused = standing.refusal {
                if case .unknown = standing, settings.acceptsAnyToken {
                    counters.accepted += 1
                    return (success(id, on: &connection), nil)
                }
                return (refusal(refused.reason, refused.timestampMilliseconds, id, on: &connection), nil)
            }
            guard case .good(let reference) = standing else { return (success(id, on: &connection), nil) }
            counters.accepted += 1
            let verdict = fleet.deliver(push, to: reference, nowMilliseconds: now)
            return (success(id, on: &connection), verdict)
        }
    }

    private mutating func success(_ id: RequestID, on connection: inout ConnectionRecord) -> Reaction {
        var reaction = Reaction(outcome: .answer(answer(200, id, connection, body: [])))
        trust(&connection, &reaction)
        return reaction
    }

    /// Lets a connection have more streams once a request with a valid token has succeeded on it.
    func trust(_ connection: inout ConnectionRecord, _ reaction: inout Reaction) {
        guard !connection.isTrusted else { return }
        connection.isTrusted = true
        reaction.streamLimit = settings.streamLimit
    }

    mutating func refusal(
        _ reason: APNsReason, _ timestamp: Int64?, _ id: RequestID, on connection: inout ConnectionRecord
    ) -> Reaction {
        counters.count(reason)
        let body = AnswerBody.refusal(reason: reason.wireName, timestampMilliseconds: timestamp)
        var reaction = Reaction(
            outcome: .answer(answer(reason.status, id, connection, body: body)))
        guard (400..<500).contains(reason.status), reason.status != 410 else { return reaction }
        connection.faults += reason == .badDeviceToken ? 2 : 1
        if settings.slowsAfterRefusal {
            connection.isTrusted = false
            reaction.streamLimit = 1
        }
        if settings.refusalsMax > 0, connection.faults >= settings.refusalsMax {
            reaction.goesAwayBecause = reason.wireName
        }
        return reaction
    }

    private mutating func answer(
        _ status: Int, _ id: RequestID, _ connection: ConnectionRecord, body: [UInt8]
    ) -> Answer {
        let unique = connection.environment == .sandbox && status == 200 ? ids.next().text : nil
        return Answer(status: status, apnsID: id.text, uniqueID: unique, body: body)
    }
}
