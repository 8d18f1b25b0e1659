import Contracts
import HTTP2
import Service
import Telemetry

/// The requests and connections of one (team, key, environment).
///
/// Requests wait here until a stream is free. The first connection is alone until APNs has accepted a provider token on
/// it; more are opened only while requests wait although every connection is as full as APNs allows. A connection is
/// kept until APNs ends it or it is not to be trusted any more.
final class Lane {
    let key: LaneKey
    var endpoint: Endpoint
    private(set) var queue = RequestQueue()
    private(set) var connections: [LaneConnection] = []
    private let tools: LaneTools
    private var limits: ConnectionLimits { tools.limits }
    private var template: HeaderTemplate?
    private var templateToken = ""
    private var isResolving = false
    private var connectsMade = 0
    private var policy: ConnectPolicy
    private var tokenNotBefore = Int64.min
    /// When what is under way is given up, once nothing more is taken.
    private var drainBy: Int64?
    private var held: [Pause] = []
    private var run = BadTokenRun()

    init(_ key: LaneKey, endpoint: Endpoint, tools: LaneTools, held: [Pause]) {
        self.key = key
        self.endpoint = endpoint
        self.tools = tools
        policy = ConnectPolicy(tools.limits)
        self.held = held
    }

    /// How many requests are under way.
    var flightCount: Int { connections.reduce(0) { $0 + $1.flightCount } }

    private var name: KeyRing.Name { KeyRing.Name(teamID: key.teamID, keyID: key.keyID) }

    // MARK: What is asked of it

    /// Takes a request in.
    func add(_ request: APNsRequest) {
        if drainBy != nil { return tools.tell(.unsent(request.id, .late)) }
        queue.append(request)
    }

    /// Gives back what waits of paused applications.
    func hold(_ pauses: [Pause]) {
        held = pauses
        guard !pauses.isEmpty else { return }
        for request in queue.remove(where: { isHeld($0) }) { tools.tell(.unsent(request.id, .paused)) }
    }

    /// Gives back all that waits, takes nothing more, and gives what is under way a last while.
    func drain(at now: Int64) {
        drainBy = now + limits.drainMilliseconds
        for request in queue.remove(where: { _ in true }) { tools.tell(.unsent(request.id, .late)) }
    }

    /// Replaces its connections, each when what is under way on it is done.
    func refresh() {
        for connection in connections { connection.retire() }
        policy.reset()
        (template, tokenNotBefore) = (nil, .min)
    }

    private func isHeld(_ request: APNsRequest) -> Bool {
        !request.trial && held.contains(request.group.pause)
    }

    // MARK: The course of things

    /// Does what can be done without waiting.
    func process(at now: Int64) {
        for connection in connections {
            connection.keepAlive(at: now)
            connection.http.process(nowMilliseconds: now)
            connection.noteWritten(at: tools.clock())
            takeEvents(of: connection, at: now)
        }
        giveUp(at: now)
        advance(at: now)
    }

    /// Closes all connections when the process cannot wait for answers any longer; what is on them is told as unanswered.
    private func giveUp(at now: Int64) {
        guard let drainBy, now >= drainBy else { return }
        for connection in connections where connection.flightCount > 0 {
            connection.http.close()
            takeEvents(of: connection, at: now)
        }
    }

    /// Sends what can be sent and opens what has to be opened.
    func advance(at now: Int64) {
        for request in queue.removeLate(at: now) { tools.tell(.unsent(request.id, .late)) }
        send(at: now)
        connections.removeAll { $0.http.isClosed && $0.flightCount == 0 }
        if wantsConnection(at: now) { connect(at: now) }
    }

    /// When it has to be looked at although nothing arrives, on the monotonic clock.
    func nextDeadlineMilliseconds(at now: Int64) -> Int64? {
        var next = Int64.max
        for connection in connections {
            next = min(next, connection.nextDeadlineMilliseconds(hasWaiting: !queue.isEmpty, at: now) ?? .max)
        }
        if let drainBy, flightCount > 0 { next = min(next, drainBy) }
        guard !queue.isEmpty else { return next == .max ? nil : next }
        next = min(next, queue.earliestSendBefore)
        if tokenNotBefore > now { next = min(next, tokenNotBefore) }
        if !isResolving { next = min(next, policy.nextDeadlineMilliseconds(at: now) ?? .max) }
        return next
    }

    // MARK: Sending

    private func send(at now: Int64) {
        guard !queue.isEmpty, connections.contains(where: { $0.room(at: now) > 0 }) else { return }
        guard let token = providerToken(at: now) else { return }
        // The turn may have begun long ago, and a token may come from a slow disk.
        let now = max(now, tools.clock())
        for connection in connections where connection.room(at: now) > 0 {
            fill(connection, token, at: now)
            connection.http.process(nowMilliseconds: now)
            connection.noteWritten(at: tools.clock())
            takeEvents(of: connection, at: now)
            if queue.isEmpty { break }
        }
    }

    private func fill(_ connection: LaneConnection, _ token: String, at now: Int64) {
        while connection.room(at: now) > 0, run.allows(flightCount, limits), let waiting = queue.popFirst() {
            let request = waiting.request
            guard request.sendBeforeMilliseconds > now else {
                tools.tell(.unsent(request.id, .late))
                continue
            }
            let isSent = connection.submit(
                waiting, headers: headers(of: request, token), providerToken: token, nowMilliseconds: now)
            guard isSent else { return queue.putBack(waiting) }
        }
    }

    private func headers(of request: APNsRequest, _ token: String) -> HTTP2Headers {
        if template?.group !== request.group || templateToken != token {
            template = HeaderTemplate(
                request.group, authority: endpoint.authority, providerToken: token)
            templateToken = token
        }
        return template?.headers(of: request) ?? HTTP2Headers()
    }

    private func providerToken(at now: Int64) -> String? {
        guard now >= tokenNotBefore else { return nil }
        switch tools.tokens.current(name) {
        case .token(let token): return token.text
        case .busy: tokenNotBefore = now + limits.tokenRetryMilliseconds
        case .unavailable(let problem):
            tokenNotBefore = now + limits.noTokenMilliseconds
            tools.logger.error("no-provider-token", ["lane": "\(key)", "problem": problem])
        }
        return nil
    }

    // MARK: Connecting

    private func wantsConnection(at now: Int64) -> Bool {
        let usable = connections.filter { $0.isUsable(at: now) }
        let isFull =
            !queue.isEmpty && !usable.isEmpty && usable.count < limits.connectionsMax
            && usable.allSatisfy { $0.isAtItsBest && $0.http.availableStreams == 0 }
        let isCrowded = policy.isCrowded(isFull, at: now)
        guard !queue.isEmpty, drainBy == nil, !isResolving, now >= policy.notBefore else { return false }
        return usable.isEmpty || isCrowded
    }

    private func connect(at now: Int64) {
        isResolving = true
        policy.begun(at: now)
        tools.resolve(self, now)
    }

    /// Goes on with the addresses of its host.
    func resolved(_ outcome: Resolver.Outcome, at now: Int64) {
        isResolving = false
        switch outcome {
        case .addresses(let addresses) where !addresses.isEmpty: open(addresses, at: now)
        case .addresses: failedToConnect("no address", at: now)
        case .failed(let problem): failedToConnect("name: \(problem)", at: now)
        case .deadline: failedToConnect("name: no answer in time", at: now)
        }
    }

    private func open(_ addresses: [String], at now: Int64) {
        var options = HTTP2ConnectionOptions()
        options.connectTimeoutMilliseconds = limits.connectTimeoutMilliseconds
        options.pingTimeoutMilliseconds = limits.pingTimeoutMilliseconds
        options.proxy = tools.proxy.map { HTTP2Proxy(port: $0.port, authorization: $0.authorization) }
        if key.host == .channels { options.maxResponseBodyBytes = limits.channelListBytesMax }
        // The next address each time: one that does not answer must not be the only one tried.
        let address = addresses[connectsMade % addresses.count]
        connectsMade += 1
        let http = HTTP2Connection(
            host: endpoint.host, port: endpoint.port, address: address, tls: tools.tls, options: options,
            nowMilliseconds: now)
        let connection = LaneConnection(http, limits: limits, nowMilliseconds: now)
        connections.append(connection)
        takeEvents(of: connection, at: now)
    }

    private func failedToConnect(_ problem: String, at now: Int64) {
        policy.failed(at: now)
        tools.logger.warning(
            "apns-not-reached",
            [
                "lane": "\(key)", "host": endpoint.authority,
                "by": tools.proxy.map { "\($0.host):\($0.port)" } ?? "", "problem": problem,
                "times": policy.failures,
            ])
    }

    // MARK: Events

    private func takeEvents(of connection: LaneConnection, at now: Int64) {
        for event in connection.http.drainEvents() {
            switch event {
            case .ready:
                connection.isReady = true
                connection.heard(at: now)
                tools.meters.opened.add()
            case .remoteStreamLimit(let limit):
                connection.streamLimit = limit
                connection.bestStreamLimit = max(connection.bestStreamLimit, limit)
                connection.heard(at: now)
            case .response(let response):
                if let flight = connection.land(response.token) {
                    take(response, flight, connection, at: now)
                }
            case .streamFailed(let token, let reason):
                if let flight = connection.land(token) { take(reason, flight, connection, at: now) }
            case .pong: connection.ponged(at: now)
            case .goAway(_, let code, let data): goAway(connection, code, data, at: now)
            case .closed(let reason): closed(connection, reason, at: now)
            }
        }
    }

    private func take(
        _ response: HTTP2Response, _ flight: LaneConnection.Flight, _ connection: LaneConnection,
        at now: Int64
    ) {
        let answer = APNsAnswer(response)
        let ruling = Ruling.of(status: answer.status, reason: answer.reason)
        run.note(answer)
        connection.answered(showsValidToken: answer.showsValidToken, at: now)
        if answer.showsValidToken { policy.answered(isDelivery: answer.status == 200) }
        judge(connection, ruling.connection, at: now)
        if ruling.providerToken == .replace, !flight.waiting.metNewToken,
            tools.tokens.refused(flight.providerToken, name)
        {
            // APNs looks at the provider token first: a push that met an expired one was not processed.
            var again = flight.waiting
            again.metNewToken = true
            return putBack(again, at: now)
        }
        tools.tell(
            .answered(
                flight.waiting.request.id, answer,
                // It has come by now: never earlier than that, where it is not known better.
                sentAtMilliseconds: flight.writtenAtMilliseconds ?? now))
    }

    private func take(
        _ failure: HTTP2StreamFailure, _ flight: LaneConnection.Flight, _ connection: LaneConnection,
        at now: Int64
    ) {
        if failure == .refused { connection.refused(at: now) }
        guard !failure.isSurelyUnprocessed else { return putBack(flight.waiting, at: now) }
        if !connection.http.isClosed, !connection.answeredSince(flight) {
            judge(connection, .suspect, at: now)
        }
        tools.tell(
            .unanswered(
                flight.waiting.request.id,
                sentAtMilliseconds: flight.writtenAtMilliseconds ?? flight.sentAtMilliseconds))
    }

    /// Lets a request wait again that APNs has not processed, unless it is not to be sent any more.
    private func putBack(_ waiting: WaitingRequest, at now: Int64) {
        let request = waiting.request
        if isHeld(request) { return tools.tell(.unsent(request.id, .paused)) }
        if drainBy != nil || request.sendBeforeMilliseconds <= now {
            return tools.tell(.unsent(request.id, .late))
        }
        queue.putBack(waiting)
    }

    private func judge(_ connection: LaneConnection, _ verdict: Ruling.Connection, at now: Int64) {
        let isTooMuch = connection.noteTrouble(verdict == .suspect)
        if verdict == .replace { connection.retire() }
        guard isTooMuch, !connection.isRetiring, policy.mayGiveUp(at: now) else { return }
        tools.logger.warning("connection-given-up", ["lane": "\(key)", "why": "trouble"])
        connection.retire()
    }

    private func goAway(_ connection: LaneConnection, _ code: UInt32, _ data: [UInt8], at now: Int64) {
        connection.heard(at: now)
        tools.logger.info(
            "goaway",
            ["lane": "\(key)", "code": Int(code), "reason": APNsAnswer(status: 0, body: data).reason ?? ""])
        connection.retire()
    }

    private func closed(_ connection: LaneConnection, _ reason: HTTP2CloseReason, at now: Int64) {
        if !connection.isReady, !connection.isRetiring { return failedToConnect("\(reason)", at: now) }
        // One that came to nothing must not be followed by the next at full speed.
        if !connection.isProven { policy.failed(at: now) }
        tools.logger.info("connection-closed", ["lane": "\(key)", "reason": "\(reason)"])
    }
}
