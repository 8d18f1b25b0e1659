internal import Glibc

/// Opens a tunnel through a proxy with HTTP/1.1 CONNECT, before TLS begins.
@safe struct ProxyTunnel {
    enum Outcome: Equatable {
        case waiting(wantsWrite: Bool)
        case open
        case refused(status: Int)
        case lost(String)
    }

    private static let answerMax = 8_192
    private var request: [UInt8]
    private var answer: [UInt8] = []

    init(host: String, port: Int, authorization: String?) {
        let target = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let credentials = authorization.map { "proxy-authorization: \($0)\r\n" } ?? ""
        request = Array("CONNECT \(target) HTTP/1.1\r\nhost: \(target)\r\n\(credentials)\r\n".utf8)
    }

    mutating func advance(_ descriptor: CInt) -> Outcome {
        while !request.isEmpty {
            let sent = unsafe request.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard sent >= 0 else {
                return errno == EAGAIN ? .waiting(wantsWrite: true) : .lost(Sockets.text(errno))
            }
            request.removeFirst(sent)
        }
        return readAnswer(descriptor)
    }

    /// Reads byte by byte, because what follows the empty line belongs to TLS; an answer is some hundred bytes.
    private mutating func readAnswer(_ descriptor: CInt) -> Outcome {
        while !answer.suffix(4).elementsEqual([13, 10, 13, 10]) {
            var byte: UInt8 = 0
            let got = unsafe recv(descriptor, &byte, 1, 0)
            if got < 0 && errno == EAGAIN { return .waiting(wantsWrite: false) }
            guard got > 0, answer.count < Self.answerMax else { return .refused(status: 0) }
            answer.append(byte)
        }
        let parts = String(decoding: answer, as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1].prefix(3)) else {
            return .refused(status: 0)
        }
        return status / 100 == 2 ? .open : .refused(status: status)
    }
}
