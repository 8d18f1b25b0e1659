import JSON

/// One call on the control port.
struct ControlRequest {
    var method: String
    /// The parts of the path, percent-decoded.
    var segments: [String]
    var query: [String: String] = [:]
    var body: [UInt8] = []
}

/// The answer to a control call, and what is to happen to the connections.
struct ControlReply: Equatable {
    /// What only the owner of the connections can do; it concerns all of them.
    enum Effect: Equatable {
        case announce(streamLimit: Int)
        case goAway(reason: String)
        case close
        case delayHandshakes(milliseconds: Int64)
    }

    var status = 200
    var body: [UInt8]
    var effect: Effect?
}

/// The calls by which tests, load runs and people steer the simulator.
///
/// `--help` lists them. They change the simulator and say what it holds; they do no input or output.
struct ControlAPI {
    /// Where apps register unless a call says otherwise.
    var ingest: String?
    /// Phones made by one call.
    static let phonesMax: Int64 = 5_000_000

    /// Answers a call.
    func handle(
        _ request: ControlRequest, _ simulator: inout Simulator, nowMicroseconds: Int64
    ) -> ControlReply {
        do throws(ControlFault) {
            return try route(request, &simulator, nowMicroseconds)
        } catch {
            return Self.reply(error.status) { $0.member("error", error.message) }
        }
    }

    private func route(
        _ request: ControlRequest, _ simulator: inout Simulator, _ nowMicroseconds: Int64
    ) throws(ControlFault) -> ControlReply {
        let now = nowMicroseconds / 1000
        switch (request.method, request.segments.first ?? "", request.segments.count) {
        case ("POST", "phones", 1): return try createPhones(request, &simulator, now)
        case ("GET", "phones", 1): return summary(request, &simulator, now)
        case ("GET", "phones", 2): return try phone(request, &simulator, now)
        case ("POST", "phones", 3): return try act(request, &simulator, now)
        case (_, "script", 1): return try script(request, &simulator)
        case ("GET", "counters", 1): return counters(simulator)
        case ("GET", "channels", 1): return listChannels(&simulator)
        case ("GET", "arrivals", 1): return try arrivals(request, simulator)
        case ("POST", "reset", 1): return try reset(request, &simulator)
        case ("POST", "connections", 1): return try connections(request, &simulator)
        case ("GET", "healthz", 1): return Self.reply { $0.member("status", "ready") }
        default: throw ControlFault(status: 404, message: "no such call; --help lists them")
        }
    }

    static func reply(_ status: Int = 200, _ members: (inout JSONWriter) -> Void) -> ControlReply {
        ControlReply(status: status, body: JSONWriter.object(members))
    }

    // MARK: Reset and connections

    private func reset(
        _ request: ControlRequest, _ simulator: inout Simulator
    ) throws(ControlFault) -> ControlReply {
        let fields = try ControlFields(body: request.body, known: ["phones"])
        simulator.reset(phones: try fields.bool("phones") ?? false)
        return Self.reply { _ in }
    }

    /// One of `streamLimit`, `goAway`, `close` and `handshakeDelayMilliseconds`.
    private func connections(
        _ request: ControlRequest, _ simulator: inout Simulator
    ) throws(ControlFault) -> ControlReply {
        let fields = try ControlFields(
            body: request.body, known: ["streamLimit", "goAway", "close", "handshakeDelayMilliseconds"])
        var reply = Self.reply { _ in }
        if let limit = try fields.int("streamLimit", in: 0...1_000_000) {
            simulator.settings.streamLimit = Int(limit)
            reply.effect = .announce(streamLimit: Int(limit))
        } else if let reason = try fields.string("goAway") {
            reply.effect = .goAway(reason: reason)
        } else if try fields.bool("close") == true {
            reply.effect = .close
        } else if let delay = try fields.int("handshakeDelayMilliseconds", in: 0...600_000) {
            reply.effect = .delayHandshakes(milliseconds: delay)
        } else {
            throw ControlFault(
                message: "streamLimit, goAway, close or handshakeDelayMilliseconds is expected")
        }
        return reply
    }
}
