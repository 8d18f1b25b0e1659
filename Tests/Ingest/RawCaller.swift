import Foundation
import Glibc
import Testing

/// A bare TCP connection to the door, which writes and reads at once what it can.
final class RawCaller {
    private let descriptor: CInt
    private(set) var received = ""
    private(set) var isEnded = false
    /// Whether the end was an orderly one.
    private(set) var isReset = false

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// Takes in what has come.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isEnded {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                received += String(decoding: buffer.prefix(count), as: UTF8.self)
            } else if count == 0 || errno != EAGAIN {
                isEnded = true
                isReset = count != 0
            } else {
                return
            }
        }
    }

    /// The status codes that have come.
    var statuses: [String] {
        received.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
    }
}
