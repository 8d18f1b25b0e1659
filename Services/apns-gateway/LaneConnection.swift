import HTTP2

/// One connection of a lane, with what is under way on it and what it has shown of itself.
final class LaneConnection {
    /// A request that was submitted.
    struct Flight {
        var waiting: WaitingRequest
        var providerToken: String
        /// When it was handed to the connection.
        var sentAtMilliseconds: Int64
        /// When the kernel had all of it; nil before, and where that is not known.
        var writtenAtMilliseconds: Int64?
    }

    let http: HTTP2Connection
    /// Whether it has got as far as HTTP/2.
    var isReady = false
    /// Whether APNs has accepted a provider token on it; before that it gets one request at a time.
    ///
    /// With a token only one stream is allowed until a request with a valid one was posted (Apple, Sending
    /// notification requests to APNs).
    private(set) var isProven = false
    /// Whether it takes no more requests.
    private(set) var isRetiring = false
    /// The highest stream limit it has had.
    var bestStreamLimit = 1
    /// The stream limit it has now.
    var streamLimit = 1
    private var troubles = 0
    private var lastHeard: Int64
    private var lastAnswered = Int64.min
    private var waitsSince: Int64
    private var pingedAt: Int64?
    private var refusedUntil = Int64.min
    private var flights: [Flight?] = []
    private var freePlaces: [Int] = []
    private let limits: ConnectionLimits

    init(_ http: HTTP2Connection, limits: ConnectionLimits, nowMilliseconds now: Int64) {
        self.http = http
        self.limits = limits
        lastHeard = now
        waitsSince = now
    }

    /// How many requests are under way.
    var flightCount: Int { flights.count - freePlaces.count }

    /// Whether it is worth waiting for, or sending on.
    func isUsable(at now: Int64) -> Bool {
        !isRetiring && !http.isClosed && !isDoubtful(at: now) && (http.isOpen || !isReady)
    }

    /// How many more requests it takes now.
    func room(at now: Int64) -> Int {
        guard isReady, now >= refusedUntil, isUsable(at: now) else { return 0 }
        return isProven ? http.availableStreams : min(http.availableStreams, 1 - flightCount)
    }

    /// Whether the number of streams is what holds it up, and not that APNs has lowered it after errors.
    var isAtItsBest: Bool { isProven && streamLimit > 1 && streamLimit == bestStreamLimit }

    private func isDoubtful(at now: Int64) -> Bool {
        pingedAt.map { now - $0 >= limits.doubtMilliseconds } ?? false
    }

    /// Sends a request.
    ///
    /// - Returns: false if there is no stream for it.
    func submit(
        _ waiting: WaitingRequest, headers: HTTP2Headers, providerToken: String, nowMilliseconds now: Int64
    ) -> Bool {
        let place = freePlaces.last ?? flights.count
        let request = waiting.request
        let isTaken = http.submit(
            token: place, headers: headers, body: request.body,
            deadlineMilliseconds: now + request.answerWithinMilliseconds)
        guard isTaken else { return false }
        if flightCount == 0 {
            waitsSince = now
            // After a long silence the connection may be dead, and only an answer tells.
            if now - lastHeard >= limits.silencePingMilliseconds { ping(at: now) }
        }
        let flight = Flight(waiting: waiting, providerToken: providerToken, sentAtMilliseconds: now)
        if freePlaces.popLast() != nil { flights[place] = flight } else { flights.append(flight) }
        return true
    }

    /// Notes when requests have gone out: a phone's pace counts from there, however long they waited for a slow disk, a
    /// full socket, APNs' window or a process that was held.
    func noteWritten(at now: Int64) {
        for place in http.takeWritten() { flights[place]?.writtenAtMilliseconds = now }
    }

    /// Takes out the request of an event.
    func land(_ token: Int) -> Flight? {
        guard flights.indices.contains(token), let flight = flights[token] else { return nil }
        flights[token] = nil
        freePlaces.append(token)
        return flight
    }

    /// Notes that the peer said something.
    func heard(at now: Int64) { lastHeard = now }

    /// Notes that the PING was answered.
    func ponged(at now: Int64) {
        lastHeard = now
        pingedAt = nil
    }

    /// Notes that a stream was refused: the next one waits until a setting or an answer comes, or a moment passes.
    func refused(at now: Int64) { refusedUntil = now + limits.refusedMilliseconds }

    /// Notes an answer.
    func answered(showsValidToken: Bool, at now: Int64) {
        lastHeard = now
        lastAnswered = now
        refusedUntil = .min
        if showsValidToken { isProven = true }
    }

    /// Whether a request was left without an answer while later ones got theirs, so that it is not the connection's
    /// doing.
    func answeredSince(_ flight: Flight) -> Bool { lastAnswered >= flight.sentAtMilliseconds }

    /// Notes whether an answer meant trouble.
    ///
    /// - Returns: whether there have been so many in a row that the connection is not to be trusted.
    func noteTrouble(_ isTrouble: Bool) -> Bool {
        troubles = isTrouble ? troubles + 1 : 0
        return troubles >= limits.troubleMax
    }

    /// Finishes what is under way and takes nothing more.
    func retire() {
        guard !isRetiring else { return }
        isRetiring = true
        http.shutdown()
    }

    /// Sends the PINGs that are due.
    func keepAlive(at now: Int64) {
        guard http.isOpen, pingedAt == nil, let due = pingDueMilliseconds, due <= now else { return }
        ping(at: now)
    }

    private func ping(at now: Int64) {
        pingedAt = now
        http.ping(nowMilliseconds: now)
    }

    private var pingDueMilliseconds: Int64? {
        guard isReady, !http.isClosed else { return nil }
        guard flightCount > 0 else { return lastHeard + limits.idlePingMilliseconds }
        return max(lastHeard, waitsSince) + limits.silencePingMilliseconds
    }

    /// When it has to be looked at although nothing arrives.
    func nextDeadlineMilliseconds(hasWaiting: Bool, at now: Int64) -> Int64? {
        let ping = pingedAt == nil ? pingDueMilliseconds : nil
        let doubt = hasWaiting ? pingedAt.map { $0 + limits.doubtMilliseconds } : nil
        let refused = hasWaiting && refusedUntil > now ? refusedUntil : nil
        let own = [ping, doubt.flatMap { $0 > now ? $0 : nil }, refused].compactMap { $0 }.min()
        return [http.nextDeadlineMilliseconds, own].compactMap { $0 }.min()
    }
}
