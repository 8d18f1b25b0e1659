import Foundation
import Glibc

/// A proxy that opens no tunnel: it tells the first line of what it is asked, and answers 403.
final class ListeningProxy: Sendable {
    let port: UInt16
    private let listener: CInt

    /// Listens on a port of its own.
    ///
    /// - Parameter asked: called with the first line of each request, before it is answered.
    /// - Throws: what keeps it from listening.
    init(_ asked: @escaping @Sendable (String) -> Void) throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            // Its number may be another socket's as soon as it is closed, so that nobody else does it.
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                var bytes = [UInt8](repeating: 0, count: 4_096)
                let count = max(0, read(connection, &bytes, bytes.count))
                let text = String(decoding: bytes[..<count], as: UTF8.self)
                asked(text.components(separatedBy: "\r\n")[0])
                let answer = Array(
                    "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
                _ = write(connection, answer, answer.count)
                close(connection)
            }
        }
    }

    deinit { shutdown(listener, CInt(SHUT_RDWR)) }
}
