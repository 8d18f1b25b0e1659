/// What the bus grants and waits for; each limit has its default here.
public struct BusLimits: Sendable, Equatable {
    /// How many messages are queued for one neighbour and lane, and from all on one lane, before senders are refused.
    ///
    /// More than the sum of all windows, so that answers always find room.
    public var queuedMessagesMax: Int32 = 32_768
    /// The largest frame, in bytes; who sends a larger one loses its connection.
    public var frameBytesMax = 8 << 20
    /// The largest message, all frames together, in bytes; a larger one is dropped.
    public var messageBytesMax = 16 << 20
    /// The most frames of a message; one with more is dropped.
    public var framesMax = 1_024
    /// How long closing waits for messages to be handed to the kernel, in milliseconds.
    public var lingerMilliseconds: Int32 = 200
    /// How long a lost connection rests before the first try to connect again, in milliseconds.
    public var reconnectMillisecondsMin: Int32 = 50
    /// The longest rest between tries, in milliseconds.
    public var reconnectMillisecondsMax: Int32 = 100
    /// How long a neighbour's socket file is missing before it is forgotten, in milliseconds.
    public var forgetMilliseconds: Int64 = 10_000
    /// The most neighbours that are connected to; files of further ones are ignored.
    public var neighboursMax = 256

    /// The defaults.
    public init() {}
}
