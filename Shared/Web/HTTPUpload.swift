/// A request whose body is read as it arrives, for bodies that are too large to be held.
///
/// Whoever has it takes what has come, when it likes: while more is held than the server's limits grant, nothing is read
/// from the client's connection. It may be answered before the body has ended; the connection then ends.
public final class HTTPUpload {
    /// What has become of the body.
    public enum State: Sendable, Equatable {
        /// More is expected.
        case arriving
        /// All of it has come.
        case complete
        /// The client left, or was too slow and was cut off; an answer reaches nobody.
        case cut
    }

    /// The request, without its body.
    public let request: HTTPRequest
    /// The answer side.
    public let exchange: HTTPExchange
    /// What has become of the body.
    public private(set) var state = State.arriving
    private var held: [UInt8] = []
    private weak var connection: ServerConnection?
    private let serial: Int

    init(_ request: HTTPRequest, _ connection: ServerConnection) {
        self.request = request
        self.connection = connection
        serial = connection.serial
        exchange = HTTPExchange(connection)
    }

    /// How many bytes wait to be taken.
    public var heldBytes: Int { held.count }

    /// Takes out what has come, and lets more come.
    public func take() -> [UInt8] {
        defer {
            held = []
            if state == .arriving { connection?.goOnReading(serial: serial) }
        }
        return held
    }

    func append(_ bytes: UnsafeRawBufferPointer) { unsafe held.append(contentsOf: bytes) }

    func end(_ state: State) {
        if self.state == .arriving { self.state = state }
    }
}
