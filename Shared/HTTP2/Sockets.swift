internal import CNghttp2
internal import Glibc

/// Non-blocking TCP sockets.
@safe enum Sockets {
    /// Begins to connect to an address in text form.
    static func connect(address: String, port: Int) throws(HTTP2Error) -> CInt {
        unsafe try withAddress(address, port: port) { info throws(HTTP2Error) in
            let descriptor = unsafe try make(family: info.pointee.ai_family)
            let result = unsafe Glibc.connect(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen)
            if result != 0 && errno != EINPROGRESS { throw failure("connect", closing: descriptor) }
            return descriptor
        }
    }

    /// Listens on an address in text form; port 0 lets the system choose.
    static func listen(address: String, port: Int) throws(HTTP2Error) -> CInt {
        unsafe try withAddress(address, port: port) { info throws(HTTP2Error) in
            let descriptor = unsafe try make(family: info.pointee.ai_family)
            set(descriptor, SOL_SOCKET, SO_REUSEADDR)
            guard unsafe Glibc.bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
                Glibc.listen(descriptor, 1_024) == 0
            else { throw failure("bind \(address):\(port)", closing: descriptor) }
            return descriptor
        }
    }

    /// Takes the next waiting connection; nil when there is none, with `errno` saying why.
    static func accept(_ listener: CInt) -> CInt? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        makeQuick(descriptor)
        return descriptor
    }

    /// The error that a connect in progress ended with, 0 for none.
    static func pendingError(_ descriptor: CInt) -> CInt {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }

    /// True when a connect in progress has ended, well or badly.
    static func isWritable(_ descriptor: CInt) -> Bool {
        var one = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&one, 1, 0) > 0
    }

    /// The port a socket is bound to.
    static func port(of descriptor: CInt) -> Int {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        // The port stands at the same place in the structures of both families.
        return result == 0 ? Int(UInt16(bigEndian: storage.sin6_port)) : 0
    }

    /// The system's text for an error number.
    static func text(_ code: CInt) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    private static func make(family: CInt) throws(HTTP2Error) -> CInt {
        let descriptor = socket(family, CInt(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw HTTP2Error(call: "socket", context: text(errno)) }
        makeQuick(descriptor)
        return descriptor
    }

    private static func makeQuick(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY)
    }

    private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt) {
        var on: CInt = 1
        unsafe setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    private static func failure(_ call: String, closing descriptor: CInt) -> HTTP2Error {
        let error = HTTP2Error(call: call, context: text(errno))
        Glibc.close(descriptor)
        return error
    }

    private static func withAddress(
        _ address: String, port: Int, _ body: (UnsafeMutablePointer<addrinfo>) throws(HTTP2Error) -> CInt
    ) throws(HTTP2Error) -> CInt {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(address, String(port), &hints, &list)
        guard result == 0, let first = unsafe list else {
            throw HTTP2Error(call: "address", context: "\(address):\(port) is not a numeric address and port")
        }
        defer { unsafe freeaddrinfo(first) }
        return unsafe try body(first)
    }
}
