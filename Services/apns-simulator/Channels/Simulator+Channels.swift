import JSON

// MARK: - Broadcasts and the calls about channels

extension Simulator {
    /// Reacts to a request on the host that manages channels.
    mutating func manage(
        _ request: APNsRequest, on connection: inout ConnectionRecord, nowMicroseconds: Int64
    ) -> Reaction {
        let id = requestID(request)
        var reaction = answerManagement(request, id, on: &connection, nowMicroseconds / 1000)
        reaction.nameAnswer("apns-request-id")
        return reaction
    }

    private mutating func answerManagement(
        _ request: APNsRequest, _ id: RequestID, on connection: inout ConnectionRecord, _ now: Int64
    ) -> Reaction {
        switch rules.judgeManagement(request, channels, on: &connection, nowMilliseconds: now) {
        case .failure(let refused): return refusal(refused.reason, nil, id, on: &connection)
        case .success(.create(let bundleID, let isStored)):
            let made = channels.create(nextID(), connection.environment, bundleID, isStored: isStored)
            guard let channel = made else {
                return refusal(.cannotCreateChannelConfig, nil, id, on: &connection)
            }
            return call(201, id, on: &connection, channel: channel.id)
        case .success(.read(let name, let bundleID)):
            let isStored = channels.channel(name, connection.environment, bundleID)?.isStored ?? false
            let body = JSONWriter.object {
                $0.member("message-storage-policy", isStored ? 1 : 0)
                $0.member("push-type", "LiveActivity")
            }
            return call(200, id, on: &connection, body: body)
        case .success(.delete(let name, _)):
            channels.delete(name)
            return call(204, id, on: &connection)
        case .success(.list(let bundleID)):
            let ids = channels.ids(connection.environment, bundleID)
            return call(200, id, on: &connection, body: JSONWriter.object { $0.member("channels", ids) })
        case .success(.broadcast): return refusal(.badPath, nil, id, on: &connection)
        }
    }

    private mutating func call(
        _ status: Int, _ id: RequestID, on connection: inout ConnectionRecord, channel: String? = nil,
        body: [UInt8] = []
    ) -> Reaction {
        counters.channelCalls += 1
        var reaction = Reaction(
            outcome: .answer(
                Answer(status: status, apnsID: id.text, channelID: channel, body: body)))
        trust(&connection, &reaction)
        return reaction
    }

    /// Reacts to a broadcast.
    mutating func broadcast(
        _ request: APNsRequest, _ push: AcceptedPush, _ id: RequestID, on connection: inout ConnectionRecord,
        _ nowMicroseconds: Int64
    ) -> (Reaction, DeliveryVerdict?) {
        let now = nowMicroseconds / 1000
        switch rules.judgeBroadcast(request, channels, on: &connection, nowMilliseconds: now) {
        case .failure(let refused): return (refusal(refused.reason, nil, id, on: &connection), nil)
        case .success(.broadcast(let channel, let bundleID)):
            let verdict = deliver(push, to: channel, connection.environment, bundleID, now)
            var reaction = Reaction(
                outcome: .answer(
                    Answer(status: 200, apnsID: id.text, uniqueID: nextID().text, body: [])))
            trust(&connection, &reaction)
            return (reaction, verdict)
        case .success: return (refusal(.badPath, nil, id, on: &connection), nil)
        }
    }

    private mutating func deliver(
        _ push: AcceptedPush, to channel: String, _ environment: APNsEnvironment, _ bundleID: String,
        _ now: Int64
    ) -> DeliveryVerdict {
        let slots = fleet.listeners(of: channel, environment, bundleID)
        let isStored = channels.channel(channel, environment, bundleID)?.isStored ?? false
        let reached = fleet.broadcast(push, to: slots, isStored: isStored, nowMilliseconds: now)
        channels.accept(push, on: channel, nowSeconds: now / 1000)
        counters.accepted += 1
        counters.broadcasts += 1
        counters.reached += reached
        return reached > 0 ? .broadcast : .broadcastToNobody
    }

    /// A phone is connected again: what APNs has kept for it arrives.
    mutating func comeOnline(_ phone: Int, nowMilliseconds: Int64) {
        fleet.comeOnline(phone, nowMilliseconds: nowMilliseconds)
        fleet.catchUp(phone, channels, nowMilliseconds: nowMilliseconds)
    }
}

extension Reaction {
    /// Names the field that carries the id of the answer.
    mutating func nameAnswer(_ field: String) {
        guard case .answer(var answer) = outcome else { return }
        answer.idField = field
        outcome = .answer(answer)
    }
}

extension ControlAPI {
    /// The channels that there are, with who listens.
    func listChannels(_ simulator: inout Simulator) -> ControlReply {
        let channels = simulator.channels.channels.values.sorted { $0.id < $1.id }
        let listening = channels.map {
            simulator.fleet.listeners(of: $0.id, $0.environment, $0.bundleID).count
        }
        return Self.reply { writer in
            writer.array("channels") { list in
                for (channel, count) in zip(channels, listening) {
                    list.object {
                        $0.member("id", channel.id)
                        $0.member("environment", channel.environment.rawValue)
                        $0.member("bundleId", channel.bundleID)
                        $0.member("storagePolicy", channel.isStored ? 1 : 0)
                        $0.member("broadcasts", channel.broadcasts)
                        $0.member("listening", count)
                        $0.member("kept", channel.kept != nil)
                    }
                }
            }
        }
    }
}
