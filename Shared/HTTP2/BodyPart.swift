internal import CNghttp2

/// A piece of a body that was copied into a DATA frame.
struct BodyPart {
    var count: Int
    var isLast: Bool

    /// Copies as much as fits.
    static func copy(
        _ body: [UInt8], from offset: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> BodyPart {
        let count = min(buffer.count, body.count - offset)
        unsafe body.withUnsafeBufferPointer { bytes in
            guard count > 0, let from = bytes.baseAddress, let to = buffer.baseAddress else { return }
            unsafe to.update(from: from + offset, count: count)
        }
        return BodyPart(count: count, isLast: offset + count == body.count)
    }

    /// Tells nghttp2 what a read of a body gave; nil means that the stream is no longer wanted.
    static func report(_ part: BodyPart?, _ flags: UnsafeMutablePointer<UInt32>?) -> Int {
        guard let part else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        if part.isLast { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return part.count
    }
}
