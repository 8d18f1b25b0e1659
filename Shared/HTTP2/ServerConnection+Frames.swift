internal import CNghttp2

// What nghttp2 calls back with, on the way from `process` and never at another time.

extension ServerConnection: SessionHandler {
    func began(_ stream: Int32) {
        guard let session else { return }
        guard streams.openCount < streamLimit else {
            session.reset(stream, code: ErrorCode.refusedStream)
            inbox.events.append(.refused(connectionID: id, streamID: Int(stream)))
            return
        }
        var fresh = ServerStream(id: stream)
        fresh.headers.reserve(fields: 12, bytes: 640)
        session.setSlot(streams.take(fresh), of: stream)
    }

    func receivedHeader(
        _ stream: Int32, isTrailer: Bool, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) {
        guard !isTrailer, let slot = slot(of: stream), !streams[slot].isTooLong else { return }
        unsafe streams[slot].headers.append(name: name, value: value, indexed: true)
        streams[slot].isTooLong = streams[slot].headers.listSize > options.maxHeaderListBytes
    }

    func receivedData(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let slot = slot(of: stream), !streams[slot].isAnswered else { return }
        let room = max(0, options.maxBodyBytes - streams[slot].body.count)
        streams[slot].bodyBytes += bytes.count
        unsafe streams[slot].body.append(contentsOf: bytes.prefix(room))
    }

    func received(_ frame: nghttp2_frame_hd) {
        if frame.type == FrameType.headers { completedHeaders(frame.stream_id) }
        if frame.type <= FrameType.headers && frame.flags & 1 != 0 { completed(frame.stream_id) }
    }

    /// A client's GOAWAY changes nothing: it opens no streams any more, and nghttp2 sees the end.
    func receivedGoAway(lastStreamID: Int32, code: UInt32, debugData: [UInt8]) {}

    /// A server's HEADERS fail only for streams that are closed, which `closed` tells.
    func notSent(_ stream: Int32) {}

    /// Refuses a header list that is too long without waiting for the body.
    private func completedHeaders(_ stream: Int32) {
        guard let slot = slot(of: stream), streams[slot].isTooLong, let session else { return }
        streams[slot].isAnswered = true
        _ = session.submitResponse(stream, status: 431, HTTP2Headers(), hasBody: false)
    }

    private func completed(_ stream: Int32) {
        guard let slot = slot(of: stream), !streams[slot].isAnswered else { return }
        streams[slot].isDelivered = true
        var request = HTTP2ServerRequest(
            connectionID: id, streamID: Int(stream), headers: HTTP2Headers(), body: [],
            bodyBytes: streams[slot].bodyBytes)
        swap(&request.headers, &streams[slot].headers)
        swap(&request.body, &streams[slot].body)
        inbox.events.append(.request(request))
    }

    func closed(_ stream: Int32, code: UInt32) {
        guard let slot = slot(of: stream) else { return }
        let ended = streams.release(slot)
        guard ended.isDelivered && !ended.isAnswered else { return }
        inbox.events.append(.streamClosed(connectionID: id, streamID: Int(stream), errorCode: code))
    }

    /// Copies the next part of an answer's body.
    func readBody(_ stream: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPart? {
        guard let slot = slot(of: stream) else { return nil }
        let part = unsafe BodyPart.copy(streams[slot].answer, from: streams[slot].answerOffset, into: buffer)
        streams[slot].answerOffset += part.count
        return part
    }
}
