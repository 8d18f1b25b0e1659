internal import CNghttp2

// What nghttp2 calls back with, on the way from `process` and never at another time.

extension HTTP2Connection: SessionHandler {
    /// A client's peer begins no streams, as server push is off.
    func began(_ stream: Int32) {}

    /// Looks at a frame on its way out: notes where a request is complete, and a GOAWAY for the peer's faults.
    ///
    /// nghttp2's own callback for a sent frame comes only when the next one is asked for, too late to tell whether
    /// a request was out when the connection broke.
    func noteSent(_ frame: UnsafeMutablePointer<UInt8>) {
        let isLastOfStream = unsafe frame[3] <= FrameType.headers && frame[4] & 1 != 0
        if isLastOfStream, let slot = unsafe slot(of: Int32(bitPattern: Self.number(frame + 5))) {
            streams.slots[slot].completeAt = output.gathered
            let id = streams.slots[slot].id
            complete.append(CompleteRequest(slot: slot, id: id, completeAt: output.gathered))
        }
        if unsafe frame[3] == FrameType.goAway { ownErrorCode = unsafe Self.number(frame + 13) }
    }

    func received(_ frame: nghttp2_frame_hd) {
        switch frame.type {
        case FrameType.headers, FrameType.data: if frame.flags & 1 != 0 { finishResponse(frame.stream_id) }
        case FrameType.settings: if frame.flags & 1 == 0 { followStreamLimit() }
        case FrameType.ping: if frame.flags & 1 != 0 { pong() }
        default: break
        }
    }

    func receivedGoAway(lastStreamID: Int32, code: UInt32, debugData: [UInt8]) {
        goAwayReceived = true
        events.append(.goAway(lastStreamID: Int(lastStreamID), errorCode: code, debugData: debugData))
        // nghttp2 would close them too, in the order of a hash table.
        for slot in streams.slots.openSlots where streams.slots[slot].id > lastStreamID {
            fail(slot, .goAwayAboveLast)
        }
    }

    func receivedHeader(
        _ stream: Int32, isTrailer: Bool, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) {
        guard let slot = slot(of: stream) else { return }
        if unsafe name.count == 7 && name[0] == UInt8(ascii: ":") {
            // A second status follows a 1xx; only the last one's fields count.
            streams.slots[slot].status = unsafe value.reduce(0) { $0 * 10 + Int($1 &- 48) }
            streams.slots[slot].headers.truncate(to: 0)
        } else if wantedHeaders.contains(where: { unsafe $0.count == name.count && name.elementsEqual($0) }) {
            let size = streams.slots[slot].headers.listSize + name.count + value.count + 32
            guard size <= options.maxResponseHeaderBytes else { return }
            unsafe streams.slots[slot].headers.append(name: name, value: value, indexed: true)
        }
    }

    func receivedData(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let slot = slot(of: stream) else { return }
        let room = options.maxResponseBodyBytes - streams.slots[slot].responseBody.count
        unsafe streams.slots[slot].responseBody.append(contentsOf: bytes.prefix(room))
    }

    func closed(_ stream: Int32, code: UInt32) {
        guard let slot = slot(of: stream) else { return }
        fail(slot, code == ErrorCode.refusedStream ? .refused : .reset(code))
    }

    func notSent(_ stream: Int32) {
        guard let slot = slot(of: stream) else { return }
        fail(slot, goAwayReceived ? .goAwayAboveLast : .connectionLost(sent: false))
    }

    /// Copies the next part of a body; nil when the request is no longer wanted.
    func readBody(_ stream: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPart? {
        guard let slot = slot(of: stream) else { return nil }
        let part = unsafe BodyPart.copy(
            streams.slots[slot].body, from: streams.slots[slot].bodyOffset, into: buffer)
        streams.slots[slot].bodyOffset += part.count
        return part
    }

    private func finishResponse(_ id: Int32) {
        guard let slot = slot(of: id) else { return }
        let stream = streams.slots.release(slot)
        events.append(
            .response(
                HTTP2Response(
                    token: stream.token, status: stream.status, headers: stream.headers,
                    body: stream.responseBody)))
        // An answer that comes before the request is complete ends it.
        if stream.completeAt == .max { session?.reset(id, code: ErrorCode.cancel) }
    }

    private func followStreamLimit() {
        guard let session else { return }
        let limit = min(session.remoteStreamLimit, options.streamCap)
        guard limit != streamLimit || !hasSettings else { return }
        hasSettings = true
        streamLimit = limit
        events.append(.remoteStreamLimit(limit))
    }

    private func pong() {
        guard let sent = pingSentAt else { return }
        pingSentAt = nil
        events.append(.pong(roundTripMilliseconds: now - sent))
    }

    private func fail(_ slot: Int, _ reason: HTTP2StreamFailure) {
        let stream = streams.slots.release(slot)
        events.append(.streamFailed(token: stream.token, reason: reason))
    }

    private func slot(of stream: Int32) -> Int? {
        guard let slot = session?.slot(of: stream), streams.slots.holds(slot, stream) else { return nil }
        return slot
    }

    private static func number(_ bytes: UnsafeMutablePointer<UInt8>) -> UInt32 {
        unsafe UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
    }
}
