/// The answer side of one request.
///
/// It may be kept and answered in a later turn of the loop. One that is dropped without an answer is answered 500, so
/// that no client waits for ever.
public final class HTTPExchange {
    private let connection: ServerConnection
    private let serial: Int

    /// Whether an answer has been given.
    public private(set) var isAnswered = false

    init(_ connection: ServerConnection) {
        self.connection = connection
        serial = connection.serial
    }

    deinit {
        if !isAnswered { connection.keep(.text(500, "no answer"), serial: serial) }
    }

    /// Leaves the request to another exchange.
    func disown() { isAnswered = true }

    /// Answers the request; it is written at once inside the handler, else by the server's next `process`.
    ///
    /// The first answer counts, later ones are ignored, and so is one whose client has left. Date, length and connection
    /// fields are added. A status outside 200 to 599, or a field that HTTP does not allow, becomes a 500.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: Further header fields.
    ///   - body: The body; not sent for HEAD, 204 and 304.
    public func respond(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        guard !isAnswered else { return }
        isAnswered = true
        let isValid = (200...599).contains(status) && headers.areWritable
        let answer = HTTPAnswer(status: status, headers: headers, body: body)
        connection.keep(isValid ? answer : .text(500, "invalid answer"), serial: serial)
    }
}
