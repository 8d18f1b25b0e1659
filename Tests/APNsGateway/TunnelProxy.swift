import Foundation
import Glibc
import Synchronization

/// A small HTTP proxy that opens tunnels to ports of loopback for those who say the right words; each tunnel has threads
/// of its own.
final class TunnelProxy: Sendable {
    let port: Int
    private let listener: CInt
    private let authorization: String?
    private let seen = Mutex<[String]>([])

    /// The first lines of the requests that came.
    var requests: [String] { seen.withLock { $0 } }

    /// Listens.
    ///
    /// - Parameter authorization: what has to stand in `proxy-authorization`; nil admits everybody.
    init(_ authorization: String? = nil) {
        self.authorization = authorization
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        listener = descriptor
        port = Self.listen(descriptor)
        inBackground { [self] in
            // Its number may be another socket's as soon as it is closed, so that nobody else does it.
            defer { Glibc.close(descriptor) }
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                inBackground { [self] in serve(client) }
            }
        }
    }

    /// Takes no more connections.
    func close() { shutdown(listener, CInt(SHUT_RDWR)) }

    private func serve(_ client: CInt) {
        defer { Glibc.close(client) }
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]), recv(client, &byte, 1, 0) == 1 {
            head.append(byte)
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        seen.withLock { $0.append(lines.first ?? "") }
        guard authorization == nil || lines.contains("proxy-authorization: \(authorization ?? "")") else {
            return say("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n", client)
        }
        let target = lines.first?.split(separator: " ").dropFirst().first?.split(separator: ":").last
        let server = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(server) }
        guard Self.withLoopback(Int(target ?? "") ?? 0, { connect(server, $0, $1) }) == 0 else {
            return say("HTTP/1.1 502 Bad Gateway\r\n\r\n", client)
        }
        say("HTTP/1.1 200 Connection established\r\n\r\n", client)
        let isOver = DispatchSemaphore(value: 0)
        inBackground {
            Self.copy(server, to: client)
            isOver.signal()
        }
        Self.copy(client, to: server)
        // Both are closed then, and their numbers are other sockets'.
        isOver.wait()
    }

    private func say(_ text: String, _ client: CInt) {
        _ = Array(text.utf8).withUnsafeBytes { send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
    }

    private static func copy(_ from: CInt, to: CInt) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0, send(to, &buffer, count, CInt(MSG_NOSIGNAL)) == count else { break }
        }
        // The other way ends too: nothing that waits for either side waits on.
        shutdown(from, CInt(SHUT_RDWR))
        shutdown(to, CInt(SHUT_RDWR))
    }

    private static func listen(_ descriptor: CInt) -> Int {
        _ = withLoopback(0) { bind(descriptor, $0, $1) }
        Glibc.listen(descriptor, 16)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func withLoopback(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// Runs something on a thread of its own.
private func inBackground(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }
