import HTTP2
import Web

/// One host of APNs: turns HTTP/2 requests into calls of the simulator and its reactions into frames.
final class APNsListener: Pollable {
    /// Error codes of RST_STREAM (RFC 9113, section 7).
    private enum Code {
        static let internalError: UInt32 = 2
        static let refusedStream: UInt32 = 7
    }

    private struct Waiting {
        var connectionID: Int
        var streamID: Int
        var reaction: Reaction
    }

    let environment: APNsEnvironment
    /// Whether it is the host that manages channels.
    let managesChannels: Bool
    private let server: HTTP2Server
    private let stage: Stage
    private var records: [Int: ConnectionRecord] = [:]
    private var bounds: [Int: StreamBound] = [:]
    private var waiting = DeadlineQueue<Waiting>()

    init(
        _ environment: APNsEnvironment, _ server: HTTP2Server, _ stage: Stage, managesChannels: Bool = false
    ) {
        self.environment = environment
        self.managesChannels = managesChannels
        self.server = server
        self.stage = stage
    }

    /// The port it listens on.
    var port: Int { server.port }

    var descriptor: CInt { server.descriptor }

    var nextDeadlineMilliseconds: Int64? {
        [server.nextDeadlineMilliseconds, waiting.nextDue].compactMap { $0 }.min()
    }

    func process(nowMilliseconds: Int64) {
        server.process(nowMilliseconds: nowMilliseconds)
        for event in server.drainEvents() { take(event, nowMilliseconds) }
        while let due = waiting.pop(now: nowMilliseconds) { perform(due) }
        server.flush()
    }

    /// Does to all connections what a control call asks for.
    func perform(_ effect: ControlReply.Effect) {
        if case .delayHandshakes(let delay) = effect { server.handshakeDelayMilliseconds = delay }
        for id in server.connectionIDs {
            switch effect {
            case .announce(let limit): server.setStreamLimit(connectionID: id, limit)
            case .goAway(let reason): goAway(id, reason: reason)
            case .close: server.closeConnection(id)
            case .delayHandshakes: break
            }
        }
        server.flush()
    }

    /// Ends all connections.
    func close() { server.close() }

    private func take(_ event: HTTP2ServerEvent, _ nowMilliseconds: Int64) {
        switch event {
        case .opened(let id):
            records[id] = stage.simulator.open(environment)
            bounds[id] = StreamBound()
        case .request(let request): receive(request, nowMilliseconds)
        case .closed(let id, _):
            bounds[id] = nil
            if records.removeValue(forKey: id) != nil { stage.simulator.close() }
        case .refused, .streamClosed, .handshakeFailed: break
        }
    }

    private func receive(_ request: HTTP2ServerRequest, _ nowMilliseconds: Int64) {
        let id = request.connectionID
        guard records[id] != nil, bounds[id]?.admits(request.streamID) == true else { return }
        let reaction = react(
            to: APNsRequest(request),
            on: &records[id, default: ConnectionRecord(environment: environment, ordinal: 0)])
        // Binding from here on, even if the frame that says so goes out later.
        if case .goAway = reaction.outcome {
            bounds[id]?.end(before: request.streamID)
        } else {
            bounds[id]?.processed(request.streamID)
        }
        let now = Waiting(connectionID: id, streamID: request.streamID, reaction: reaction)
        guard reaction.delayMilliseconds > 0 else { return perform(now) }
        waiting.push(now, due: nowMilliseconds + reaction.delayMilliseconds)
    }

    private func react(to request: APNsRequest, on connection: inout ConnectionRecord) -> Reaction {
        let now = Stage.nowMicroseconds()
        return managesChannels
            ? stage.simulator.manage(request, on: &connection, nowMicroseconds: now)
            : stage.simulator.receive(request, on: &connection, nowMicroseconds: now)
    }

    private func perform(_ due: Waiting) {
        let id = due.connectionID
        if let limit = due.reaction.streamLimit { server.setStreamLimit(connectionID: id, limit) }
        switch due.reaction.outcome {
        case .silence: break
        case .answer(let answer):
            server.respond(
                connectionID: id, streamID: due.streamID, status: answer.status, headers: answer.fields,
                body: answer.body)
        case .reset(let isRefusal):
            let code = isRefusal ? Code.refusedStream : Code.internalError
            server.reset(connectionID: id, streamID: due.streamID, code: code)
        case .goAway(let reason): turnAway(due, reason: reason)
        case .close:
            bounds[id]?.endAll()
            server.closeConnection(id)
        }
        if let reason = due.reaction.goesAwayBecause { goAway(id, reason: reason) }
    }

    /// Ends a connection with a request as the first that is not processed.
    private func turnAway(_ due: Waiting, reason: String) {
        let id = due.connectionID
        guard let last = bounds[id]?.last else { return }
        // A later request that was complete before this one was processed, and the announced id covers it.
        if last >= due.streamID {
            server.reset(connectionID: id, streamID: due.streamID, code: Code.refusedStream)
        }
        goAway(id, lastStreamID: last, reason: reason)
    }

    private func goAway(_ id: Int, lastStreamID: Int? = nil, reason: String) {
        server.goAway(
            connectionID: id, lastStreamID: lastStreamID,
            debugData: AnswerBody.refusal(reason: reason, timestampMilliseconds: nil))
    }
}

extension APNsRequest {
    /// Takes over a request of the HTTP/2 server; its body is cut beyond what APNs would take.
    init(_ request: HTTP2ServerRequest) {
        self.init(method: "", path: "", headers: APNsHeaders(), body: request.body)
        for (name, value) in request.headers.pairs {
            switch name {
            case ":method": method = value
            case ":path": path = value
            default: headers.add(name, value)
            }
        }
    }
}

extension Answer {
    /// The fields of the answer; ids differ each time and stay out of the HPACK table.
    var fields: HTTP2Headers {
        var fields = HTTP2Headers()
        fields.append(idField, apnsID, indexed: false)
        if let channelID { fields.append("apns-channel-id", channelID, indexed: false) }
        if let uniqueID { fields.append("apns-unique-id", uniqueID, indexed: false) }
        if !body.isEmpty { fields.append("content-type", "application/json") }
        return fields
    }
}
