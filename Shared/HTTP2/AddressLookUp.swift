internal import CNghttp2
internal import Glibc

/// `getaddrinfo`, with its answer as text.
@safe enum AddressLookUp {
    /// Looks a name up and blocks until the system has an answer.
    @Sendable static func run(_ host: String) -> Resolver.Outcome {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        guard code == 0, let first = unsafe list else {
            return unsafe .failed(gai_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)")
        }
        defer { unsafe freeaddrinfo(first) }
        var found: [String] = []
        var next = unsafe list
        while let info = unsafe next {
            if let address = unsafe text(info.pointee) { found.append(address) }
            unsafe next = unsafe info.pointee.ai_next
        }
        return found.isEmpty ? .failed("no address") : .addresses(found)
    }

    private static func text(_ info: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = unsafe getnameinfo(
            info.ai_addr, info.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
