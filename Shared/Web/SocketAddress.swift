internal import Glibc

/// The kernel's form of an `HTTPAddress`.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    init(_ address: HTTPAddress) throws(HTTPServerError) {
        switch address {
        case .unix(let path):
            var unix = sockaddr_un()
            unix.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            guard bytes.count <= HTTPAddress.pathBytesMax else { throw SocketAddress.malformed(address) }
            unsafe withUnsafeMutableBytes(of: &unix.sun_path) { unsafe $0.copyBytes(from: bytes) }
            length = socklen_t(MemoryLayout<sockaddr_un>.size)
            store(unix)
        case .tcp(let host, let port) where host.contains(":"):
            var inet = sockaddr_in6()
            inet.sin6_family = sa_family_t(AF_INET6)
            inet.sin6_port = port.bigEndian
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let parsed = unsafe inet_pton(AF_INET6, host, &inet.sin6_addr)
            guard parsed == 1 else { throw SocketAddress.malformed(address) }
            store(inet)
        case .tcp(let host, let port):
            var inet = sockaddr_in()
            inet.sin_family = sa_family_t(AF_INET)
            inet.sin_port = port.bigEndian
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let parsed = unsafe inet_pton(AF_INET, host, &inet.sin_addr)
            guard parsed == 1 else { throw SocketAddress.malformed(address) }
            store(inet)
        }
    }

    /// The port that a socket got.
    static func port(of descriptor: CInt) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { return 0 }
        // sin_port and sin6_port stand at the same offset.
        return unsafe withUnsafeBytes(of: &storage) {
            unsafe UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    var family: CInt { CInt(storage.ss_family) }

    func bind(_ descriptor: CInt) -> CInt {
        unsafe withPointer { pointer, length in unsafe Glibc.bind(descriptor, pointer, length) }
    }

    func connect(_ descriptor: CInt) -> CInt {
        unsafe withPointer { pointer, length in unsafe Glibc.connect(descriptor, pointer, length) }
    }

    private func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        unsafe withUnsafePointer(to: storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    private mutating func store<Address>(_ address: Address) {
        unsafe withUnsafeMutableBytes(of: &storage) { target in
            unsafe withUnsafeBytes(of: address) { unsafe target.copyMemory(from: $0) }
        }
    }

    private static func malformed(_ address: HTTPAddress) -> HTTPServerError {
        HTTPServerError(reason: .malformedAddress, call: "address", code: 0, context: address.description)
    }
}
