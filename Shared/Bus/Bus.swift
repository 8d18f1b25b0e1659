public import Contracts

/// One instance's place on the bus: two sockets that it reads, and one for each neighbour and lane that it writes to.
///
/// Work and answers come in on sockets of their own, so that answers never wait behind work. A sender chooses the
/// instance that it sends to: libzmq's own spreading would keep messages for the dead. Nothing here blocks but `poll`.
/// For one thread.
public final class Bus {
    /// Whose place it is.
    public let endpoint: BusEndpoint
    /// The limits it was made with.
    public let limits: BusLimits

    private let context: ZMQContext
    private let inbound: [Lane: ZMQSocket]
    private let files: [Lane: SocketFile]
    private var outbound: [InstanceName: Neighbour] = [:]
    private let poller = BusPoller()

    private struct Neighbour {
        var sockets: [Lane: ZMQSocket]
        var seenAtMilliseconds: Int64
    }

    /// Binds the two sockets.
    ///
    /// The caller holds the instance's lock, so that a socket file at the path is a dead process's and is taken over.
    ///
    /// - Throws: `BusError`, also if a process listens there all the same or something else is at a path.
    public init(_ endpoint: BusEndpoint, limits: BusLimits = BusLimits()) throws(BusError) {
        for lane in Lane.allCases { try SocketFile.requireVacant(endpoint.path(lane)) }
        let context = try ZMQContext()
        var inbound: [Lane: ZMQSocket] = [:]
        var files: [Lane: SocketFile] = [:]
        for lane in [Lane.work, .answers] {
            let path = endpoint.path(lane)
            let socket = try ZMQSocket(.pull, context, limits: limits)
            try socket.countEndedConnections(name: lane.rawValue)
            try socket.bind(ipc: path)
            try SocketFile.restrict(path)
            guard let file = SocketFile(at: path) else {
                throw BusError(.notASocket, call: "zmq_bind", path: path)
            }
            inbound[lane] = socket
            files[lane] = file
        }
        self.endpoint = endpoint
        self.limits = limits
        self.context = context
        self.inbound = inbound
        self.files = files
    }

    deinit {
        // libzmq leaves the files of its sockets where they are; without them neighbours forget this instance soon.
        for (lane, file) in files { file.remove(ifStillAt: endpoint.path(lane)) }
    }

    /// Whether the sockets at the instance's paths are still the ones bound here.
    ///
    /// If not, nobody can reach this process any more, and it has to go.
    public var ownsItsSockets: Bool {
        Lane.allCases.allSatisfy { SocketFile(at: endpoint.path($0)) == files[$0] }
    }

    /// The neighbours whose sockets were found, sorted; a hello may be sent to each.
    public var neighbours: [InstanceName] { outbound.keys.sorted() }

    /// Looks for neighbours in the run directory, connects to new ones, and forgets those that are long gone.
    ///
    /// libzmq connects again by itself to a neighbour that has come back at the same path.
    ///
    /// - Throws: `BusError` if the run directory cannot be read or libzmq has no more sockets.
    public func discover(nowMilliseconds now: Int64) throws(BusError) {
        for instance in try found() {
            if outbound[instance] == nil, outbound.count < limits.neighboursMax {
                outbound[instance] = Neighbour(sockets: try connect(instance), seenAtMilliseconds: now)
            }
            outbound[instance]?.seenAtMilliseconds = now
        }
        outbound = outbound.filter { now - $0.value.seenAtMilliseconds < limits.forgetMilliseconds }
    }

    private func found() throws(BusError) -> [InstanceName] {
        let ending = ".\(Lane.answers.rawValue)"
        let services = endpoint.instance.service.neighbours
        return try directoryEntries(endpoint.runDirectory).filter { $0.hasSuffix(ending) }
            .compactMap { InstanceName($0.dropLast(ending.count)) }
            .filter { services.contains($0.service) }.sorted()
    }

    private func connect(_ instance: InstanceName) throws(BusError) -> [Lane: ZMQSocket] {
        var sockets: [Lane: ZMQSocket] = [:]
        for lane in Lane.allCases {
            let socket = try ZMQSocket(.push, context, limits: limits)
            try socket.connect(ipc: endpoint.path(of: instance, lane))
            sockets[lane] = socket
        }
        return sockets
    }

    /// What became of a message that was to be sent.
    public enum Sending: Sendable, Equatable {
        /// libzmq has it.
        case taken
        /// The neighbour is not connected, or too much is queued for it.
        case notNow
        /// It passes a limit and will never be taken.
        case tooLarge
    }

    /// Sends one message to one neighbour, without waiting.
    public func send(_ frames: [[UInt8]], to instance: InstanceName, _ lane: Lane) -> Sending {
        guard frames.count <= limits.framesMax, frames.allSatisfy({ $0.count <= limits.frameBytesMax }),
            frames.reduce(0, { $0 + $1.count }) <= limits.messageBytesMax
        else { return .tooLarge }
        guard let socket = outbound[instance]?.sockets[lane], socket.send(frames) else { return .notNow }
        return .taken
    }

    /// Takes the next message of a lane, without waiting.
    public func receive(_ lane: Lane) -> Received {
        inbound[lane]?.receive(limits: limits) ?? .nothing
    }

    /// How many incoming connections have ended since the last call.
    ///
    /// Neighbours that stop end theirs; so does libzmq when a frame is larger than the limit or is no ZMTP.
    public func takeEndedConnections() -> Int {
        inbound.values.reduce(0) { $0 + $1.takeEndedConnections(limits: limits) }
    }

    /// Waits until a lane or a descriptor has something to read, or the time is over, or a signal has come.
    ///
    /// - Parameters:
    ///   - lanes: the lanes to watch.
    ///   - descriptors: further descriptors to watch; negative ones are skipped.
    ///   - timeoutMilliseconds: how long to wait at the most.
    public func poll(_ lanes: [Lane], _ descriptors: [CInt] = [], timeoutMilliseconds: Int64) {
        poller.wait(lanes.compactMap { inbound[$0] }, descriptors, timeoutMilliseconds: timeoutMilliseconds)
    }
}

@available(*, unavailable)
extension Bus: Sendable {}
