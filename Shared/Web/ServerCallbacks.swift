internal import CMicrohttpd

/// The C functions that libmicrohttpd calls: each finds its server and connection and hands on.
enum ServerCallbacks {
    static func install(in settings: inout liveline_mhd_settings) {
        unsafe settings.connection = { context, handle, slot, code in
            guard let core = unsafe ServerCallbacks.core(context), let handle = unsafe handle,
                let slot = unsafe slot
            else { return }
            if code == .CONNECTION_NOTIFY_STARTED {
                unsafe ServerCallbacks.begin(handle, slot, core)
            } else {
                unsafe ServerCallbacks.end(slot, core)
            }
        }
        unsafe settings.request_line = { context, target, handle in
            if let core = unsafe ServerCallbacks.core(context),
                let connection = unsafe ServerCallbacks.connection(handle)
            {
                core.beginRequest(unsafe target.map { unsafe String(cString: $0) } ?? "", on: connection)
            }
            return nil
        }
        unsafe settings.completed = { context, handle, _, _ in
            guard let core = unsafe ServerCallbacks.core(context),
                let connection = unsafe ServerCallbacks.connection(handle)
            else { return }
            core.finishRequest(on: connection)
        }
        unsafe settings.access = { context, handle, _, method, version, bytes, count, _ in
            guard let core = unsafe ServerCallbacks.core(context), let handle = unsafe handle,
                let connection = unsafe ServerCallbacks.connection(handle), let count = unsafe count
            else { return .NO }
            guard let headers = connection.headers else {
                let isOld = unsafe version.map { unsafe String(cString: $0) } == "HTTP/1.0"
                let headers = unsafe ServerCallbacks.headers(of: handle)
                connection.headers = headers
                let method = unsafe method.map { unsafe String(cString: $0) } ?? ""
                guard let refusal = core.examine(method, headers, isOld: isOld, on: connection) else {
                    return .YES
                }
                connection.keep(refusal, serial: connection.serial)
                return unsafe ServerCallbacks.send(connection, handle, core)
            }
            if core.isClosing { connection.keep(.text(503, "stopping"), serial: connection.serial) }
            let arrived = unsafe UnsafeRawBufferPointer(start: bytes, count: count.pointee)
            if let upload = connection.upload {
                switch unsafe core.receive(arrived, of: upload, on: connection) {
                case .taken: unsafe count.pointee = 0
                // What was not taken comes again once the connection goes on.
                case .waits: connection.suspend()
                case .refused: return .NO
                case .answered: return unsafe ServerCallbacks.send(connection, handle, core)
                }
                return .YES
            }
            guard unsafe arrived.isEmpty else {
                unsafe count.pointee = 0
                return unsafe core.receive(arrived, on: connection) ? .YES : .NO
            }
            if connection.phase == .receiving {
                let method = unsafe method.map { unsafe String(cString: $0) } ?? ""
                core.handle(method, headers, on: connection)
            }
            guard connection.answer != nil else {
                connection.suspend()
                return .YES
            }
            return unsafe ServerCallbacks.send(connection, handle, core)
        }
    }

    private static func begin(
        _ handle: OpaquePointer, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ core: ServerCore
    ) {
        let connection = unsafe ServerConnection(
            handle: handle, isEncrypted: core.isEncrypted, credentials: core.credentials, work: core.work,
            nowMilliseconds: core.nowMilliseconds)
        core.add(connection)
        unsafe slot.pointee = unsafe Unmanaged.passRetained(connection).toOpaque()
    }

    private static func end(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ core: ServerCore) {
        guard let pointer = unsafe slot.pointee else { return }
        unsafe slot.pointee = nil
        core.remove(unsafe Unmanaged<ServerConnection>.fromOpaque(pointer).takeRetainedValue())
    }

    private static func send(
        _ connection: ServerConnection, _ handle: OpaquePointer, _ core: ServerCore
    ) -> MHD_Result {
        guard let answer = core.takeAnswer(of: connection) else { return .NO }
        connection.enter(.answering, at: core.nowMilliseconds)
        let response = unsafe answer.body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response = unsafe response else { return .NO }
        defer { unsafe MHD_destroy_response(response) }
        for field in answer.headers.fields {
            // Refused are an empty value and the fields that libmicrohttpd writes itself: neither is missed.
            _ = unsafe MHD_add_response_header(response, field.name, field.value)
        }
        if core.isQuiesced { _ = unsafe MHD_add_response_header(response, "Connection", "close") }
        return unsafe MHD_queue_response(handle, CUnsignedInt(answer.status), response)
    }

    private static func headers(of handle: OpaquePointer) -> HTTPHeaders {
        var headers = HTTPHeaders()
        _ = unsafe withUnsafeMutablePointer(to: &headers) { headers in
            unsafe MHD_get_connection_values_n(
                handle, .HEADER_KIND,
                { context, _, name, nameCount, value, valueCount in
                    unsafe context?.assumingMemoryBound(to: HTTPHeaders.self).pointee.add(
                        ServerCallbacks.text(name, nameCount), ServerCallbacks.text(value, valueCount))
                    return .YES
                }, headers)
        }
        return headers
    }

    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        unsafe String(
            decoding: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count), as: UTF8.self)
    }

    private static func core(_ context: UnsafeMutableRawPointer?) -> ServerCore? {
        unsafe context.map { unsafe Unmanaged<ServerCore>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func connection(_ handle: OpaquePointer?) -> ServerConnection? {
        guard let pointer = unsafe liveline_mhd_socket_context(handle) else { return nil }
        return unsafe Unmanaged<ServerConnection>.fromOpaque(pointer).takeUnretainedValue()
    }
}
