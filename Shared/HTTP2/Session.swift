internal import CNghttp2

/// Frame types (RFC 9113, 6).
enum FrameType {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
}

/// Error codes (RFC 9113, 7).
enum ErrorCode {
    static let none: UInt32 = 0
    static let protocolError: UInt32 = 1
    static let refusedStream: UInt32 = 7
    static let cancel: UInt32 = 8
}

/// An nghttp2 session, freed with this object.
@safe final class Session {
    let raw: OpaquePointer
    /// The owner, which outlives its session.
    unowned(unsafe) let handler: any SessionHandler
    private var scratch = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: 64)
    private var scratchCapacity = 64

    enum Role {
        /// So many streams are opened before the server has said how many it allows.
        case client(streamLimit: Int)
        case server
    }

    /// Makes a session that tells `handler`, its owner, what happens.
    init?(_ role: Role, handler: any SessionHandler) {
        var callbacks: OpaquePointer?
        var settings: OpaquePointer?
        var made: OpaquePointer?
        unsafe nghttp2_session_callbacks_new(&callbacks)
        unsafe nghttp2_option_new(&settings)
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(settings)
        }
        unsafe SessionCallbacks.set(callbacks)
        switch role {
        case .client(let limit):
            unsafe nghttp2_option_set_peer_max_concurrent_streams(settings, UInt32(clamping: limit))
            unsafe nghttp2_session_client_new2(&made, callbacks, nil, settings)
        case .server:
            // Closed streams would be kept for the tree of priorities, which nobody here uses.
            unsafe nghttp2_option_set_no_closed_streams(settings, 1)
            unsafe nghttp2_session_server_new2(&made, callbacks, nil, settings)
        }
        guard let made = unsafe made else { return nil }
        unsafe raw = unsafe made
        unsafe self.handler = handler
        unsafe nghttp2_session_set_user_data(made, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        unsafe nghttp2_session_del(raw)
        unsafe scratch.deallocate()
    }

    /// Takes bytes from the peer; false when the session is beyond use.
    func receive(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
        unsafe nghttp2_session_mem_recv(raw, bytes, count) >= 0
    }

    /// True when both ends have said all they will ever say.
    var isFinished: Bool {
        unsafe nghttp2_session_want_read(raw) == 0 && nghttp2_session_want_write(raw) == 0
    }

    /// True while new requests may be made: no GOAWAY in either direction and stream ids left.
    var mayOpenStreams: Bool { unsafe nghttp2_session_check_request_allowed(raw) != 0 }

    /// The next stream id we would use.
    var nextStreamID: UInt32 { unsafe nghttp2_session_get_next_stream_id(raw) }

    /// Skips stream ids, as if they had been used.
    func skip(to id: Int32) {
        unsafe nghttp2_session_set_next_stream_id(raw, id)
    }

    /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS, `Int(UInt32.max)` without one.
    var remoteStreamLimit: Int {
        unsafe Int(nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Queues a request, whose body is asked for through the handler; its stream id, or a negative error.
    func submitRequest(_ headers: HTTP2Headers, slot: Int, hasBody: Bool) -> Int32 {
        unsafe withFields(headers, status: nil) { fields, count in
            let mark = unsafe Self.mark(slot)
            guard hasBody else { return unsafe nghttp2_submit_request(raw, nil, fields, count, nil, mark) }
            var provider = unsafe Self.provider()
            return unsafe nghttp2_submit_request(raw, nil, fields, count, &provider, mark)
        }
    }

    /// Queues an answer; without a body it is one HEADERS frame with END_STREAM.
    func submitResponse(_ stream: Int32, status: Int, _ headers: HTTP2Headers, hasBody: Bool) -> Bool {
        unsafe withFields(headers, status: status) { fields, count in
            guard hasBody else { return unsafe nghttp2_submit_response(raw, stream, fields, count, nil) }
            var provider = unsafe Self.provider()
            return unsafe nghttp2_submit_response(raw, stream, fields, count, &provider)
        } == 0
    }

    private static func provider() -> nghttp2_data_provider {
        unsafe nghttp2_data_provider(source: nghttp2_data_source(fd: 0), read_callback: sessionReadBody)
    }

    func reset(_ stream: Int32, code: UInt32) {
        unsafe nghttp2_submit_rst_stream(raw, 0, stream, code)
    }

    func ping() {
        unsafe nghttp2_submit_ping(raw, 0, nil)
    }

    /// Queues a GOAWAY; without an id it names the last stream that was begun.
    func goAway(lastStreamID: Int32?, code: UInt32, debugData: [UInt8]) {
        let last = unsafe lastStreamID ?? nghttp2_session_get_last_proc_stream_id(raw)
        unsafe debugData.withUnsafeBufferPointer { bytes in
            _ = unsafe nghttp2_submit_goaway(raw, 0, last, code, bytes.baseAddress, bytes.count)
        }
    }

    func settings(_ entries: [(id: nghttp2_settings_id, value: UInt32)]) {
        let list = entries.map {
            nghttp2_settings_entry(settings_id: Int32($0.id.rawValue), value: $0.value)
        }
        unsafe list.withUnsafeBufferPointer { bytes in
            _ = unsafe nghttp2_submit_settings(raw, 0, bytes.baseAddress, bytes.count)
        }
    }

    /// Widens the window of the whole connection beyond the 65,535 bytes that it begins with.
    func setConnectionWindow(_ bytes: Int32) {
        unsafe nghttp2_session_set_local_window_size(raw, 0, 0, bytes)
    }

    /// Remembers the slot of a stream.
    func setSlot(_ slot: Int, of stream: Int32) {
        unsafe nghttp2_session_set_stream_user_data(raw, stream, Self.mark(slot))
    }

    /// The slot remembered for a stream that is still open.
    func slot(of stream: Int32) -> Int? {
        guard let mark = unsafe nghttp2_session_get_stream_user_data(raw, stream) else { return nil }
        return Int(bitPattern: mark) - 1
    }

    private static func mark(_ slot: Int) -> UnsafeMutableRawPointer? {
        unsafe UnsafeMutableRawPointer(bitPattern: slot + 1)
    }

    /// Lays the fields out as nghttp2 wants them, pseudo fields first; it copies them before it returns.
    private func withFields(
        _ headers: HTTP2Headers, status: Int?, _ body: (UnsafePointer<nghttp2_nv>, Int) -> Int32
    ) -> Int32 {
        ensureScratch(headers.count + 1)
        guard let status else {
            return unsafe headers.bytes.withUnsafeBufferPointer { bytes in
                unsafe body(scratch, fill(headers.fields, bytes.baseAddress, from: 0))
            }
        }
        let line = StatusLines.line(status)
        return unsafe line.withUnsafeBufferPointer { lineBytes in
            unsafe headers.bytes.withUnsafeBufferPointer { bytes in
                let own = HTTP2Headers.Field(
                    start: 0, nameLength: 7, valueLength: 3, isIndexed: true, isPseudo: true)
                unsafe put(own, lineBytes.baseAddress, at: 0)
                return unsafe body(scratch, fill(headers.fields, bytes.baseAddress, from: 1))
            }
        }
    }

    private func fill(_ fields: [HTTP2Headers.Field], _ base: UnsafePointer<UInt8>?, from first: Int) -> Int {
        var next = first
        for field in fields where field.isPseudo {
            unsafe put(field, base, at: next)
            next += 1
        }
        for field in fields where !field.isPseudo {
            unsafe put(field, base, at: next)
            next += 1
        }
        return next
    }

    private func put(_ field: HTTP2Headers.Field, _ base: UnsafePointer<UInt8>?, at index: Int) {
        guard let base = unsafe base else { return }
        let name = unsafe UnsafeMutablePointer(mutating: base + Int(field.start))
        let flag = field.isIndexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
        unsafe scratch[index] = unsafe nghttp2_nv(
            name: name, value: name + Int(field.nameLength), namelen: Int(field.nameLength),
            valuelen: Int(field.valueLength), flags: UInt8(flag.rawValue))
    }

    private func ensureScratch(_ count: Int) {
        guard count > scratchCapacity else { return }
        unsafe scratch.deallocate()
        unsafe scratch = .allocate(capacity: count)
        scratchCapacity = count
    }
}

/// `:status` fields, made once.
private enum StatusLines {
    private static let lines: [[UInt8]] = (0...999).map { status in
        let digits = [status / 100, status / 10 % 10, status % 10].map { UInt8(48 + $0) }
        return Array(":status".utf8) + digits
    }

    static func line(_ status: Int) -> [UInt8] {
        precondition((200...599).contains(status), "a final status is from 200 to 599")
        return lines[status]
    }
}
