/// What a server grants its clients; each limit ends a request or a connection, never the process.
public struct HTTPServerLimits: Sendable, Equatable {
    /// The largest body, bytes; 1 MiB.
    ///
    /// A larger one is answered 413, from its declared length without reading it.
    public var bodyBytesMax = 1 << 20

    /// What all bodies still arriving may hold together, bytes; 64 MiB.
    ///
    /// A request beyond it is answered 503.
    public var arrivingBytesMax = 64 << 20

    /// What the bodies of all answers may hold together that the kernel has not taken over yet, bytes; 64 MiB.
    ///
    /// A GET or HEAD whose answer would be beyond it is answered 503 instead; whatever may have changed something is
    /// always answered.
    public var answeringBytesMax = 64 << 20

    /// The memory for the request line and header fields of one request, bytes; 8 KiB.
    ///
    /// More is answered 431 or 414.
    public var headerBytesMax = 8 << 10

    /// How many connections may be open; 16,384.
    ///
    /// For further ones those end that have been idle longest; then, with a 503, those that have been at one request
    /// for longer than a second. If there is none of either, they wait in the listen queue.
    public var connectionsMax = 16_384

    /// What one upload may hold that nobody has taken yet, bytes; 256 KiB.
    ///
    /// Beyond it nothing is read from its connection.
    public var uploadBytesMax = 256 << 10

    /// What has to arrive of an upload in each `requestMilliseconds` in which it is read, bytes; 4 KiB.
    public var uploadProgressBytes = 4 << 10

    /// The time from the first byte of a request to its last, ms; 10 s.
    ///
    /// A TLS handshake counts as a first byte. For an upload it begins again with each piece of progress.
    public var requestMilliseconds: Int64 = 10_000

    /// The time from an answer to its last byte being taken over by the kernel, ms; 30 s.
    public var answerMilliseconds: Int64 = 30_000

    /// How long a connection stays open between requests, ms; 60 s.
    public var idleMilliseconds: Int64 = 60_000

    /// How long the rest of a refused body is read and dropped, so that its sender sees the refusal, ms; 2 s.
    public var lingerMilliseconds: Int64 = 2_000

    /// Makes the default limits.
    public init() {}

    /// How often deadlines are looked at: a tenth of the shortest, but neither in a rush nor less than once a second.
    var sweepMilliseconds: Int64 {
        min(1_000, max(10, min(requestMilliseconds, idleMilliseconds, answerMilliseconds) / 10))
    }
}
