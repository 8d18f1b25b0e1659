/// Which streams of a connection are processed once its end has been announced.
///
/// Nothing above the last id of a GOAWAY may be acted upon, and that id never rises (RFC 9113, section 6.8).
struct StreamBound: Equatable {
    /// The last stream that is processed; nil while no end is announced.
    private(set) var last: Int?
    private var newest = 0

    /// Whether a request on a stream may be processed.
    func admits(_ streamID: Int) -> Bool { streamID <= last ?? .max }

    /// A request was processed.
    mutating func processed(_ streamID: Int) { newest = max(newest, streamID) }

    /// Ends the connection before a stream, but not below one that was processed.
    mutating func end(before streamID: Int) { last = min(last ?? .max, max(newest, streamID - 2, 0)) }

    /// Ends the connection at once: nothing more is processed.
    mutating func endAll() { last = 0 }
}
