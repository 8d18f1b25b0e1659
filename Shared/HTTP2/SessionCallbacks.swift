internal import CNghttp2

/// Who is told what a session receives and closes, and asked for bodies.
protocol SessionHandler: AnyObject {
    func began(_ stream: Int32)
    func receivedHeader(
        _ stream: Int32, isTrailer: Bool, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>)
    func received(_ frame: nghttp2_frame_hd)
    func receivedGoAway(lastStreamID: Int32, code: UInt32, debugData: [UInt8])
    func receivedData(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>)
    func closed(_ stream: Int32, code: UInt32)
    func notSent(_ stream: Int32)
    func readBody(_ stream: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> BodyPart?
}

/// The functions that nghttp2 calls, each of which only passes on.
@safe enum SessionCallbacks {
    static func set(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBegin)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose)
        unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, onNotSent)
    }
}

private func with<T>(_ context: UnsafeMutableRawPointer?, _ body: (any SessionHandler) -> T) -> T {
    guard let context = unsafe context else { preconditionFailure("nghttp2 lost its user data") }
    return unsafe Unmanaged<Session>.fromOpaque(context)._withUnsafeGuaranteedRef { unsafe body($0.handler) }
}

private func onBegin(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame, unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
    unsafe with(context) { unsafe $0.began(frame.pointee.hd.stream_id) }
    return 0
}

private func onHeader(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameLength: Int,
    value: UnsafePointer<UInt8>?, valueLength: Int, _: UInt8, context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    let name = unsafe UnsafeBufferPointer(start: name, count: nameLength)
    let value = unsafe UnsafeBufferPointer(start: value, count: valueLength)
    let isTrailer = unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_HEADERS
    unsafe with(context) {
        unsafe $0.receivedHeader(frame.pointee.hd.stream_id, isTrailer: isTrailer, name: name, value: value)
    }
    return 0
}

private func onFrame(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    unsafe with(context) { handler in
        guard unsafe frame.pointee.hd.type == FrameType.goAway else {
            return unsafe handler.received(frame.pointee.hd)
        }
        let part = unsafe frame.pointee.goaway
        let debug = unsafe UnsafeBufferPointer(start: part.opaque_data, count: part.opaque_data_len)
        unsafe handler.receivedGoAway(
            lastStreamID: part.last_stream_id, code: part.error_code, debugData: Array(debug))
    }
    return 0
}

private func onData(
    _: OpaquePointer?, _: UInt8, stream: Int32, bytes: UnsafePointer<UInt8>?, count: Int,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe with(context) { unsafe $0.receivedData(stream, UnsafeBufferPointer(start: bytes, count: count)) }
    return 0
}

private func onClose(
    _: OpaquePointer?, stream: Int32, code: UInt32, context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe with(context) { $0.closed(stream, code: code) }
    return 0
}

private func onNotSent(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, _: Int32, context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame, unsafe frame.pointee.hd.type == FrameType.headers else { return 0 }
    unsafe with(context) { unsafe $0.notSent(frame.pointee.hd.stream_id) }
    return 0
}

/// Fills a DATA frame.
func sessionReadBody(
    _: OpaquePointer?, stream: Int32, buffer: UnsafeMutablePointer<UInt8>?, capacity: Int,
    flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?,
    context: UnsafeMutableRawPointer?
) -> Int {
    let place = unsafe UnsafeMutableBufferPointer(start: buffer, count: capacity)
    return unsafe BodyPart.report(with(context) { unsafe $0.readBody(stream, into: place) }, unsafe flags)
}
