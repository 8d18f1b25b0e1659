import Glibc

/// A TCP relay that can stop passing bytes, cut its connections, or ask for a CONNECT first.
final class Relay: Pollable {
    private struct Pair {
        var near: CInt
        var far: CInt
        var isBlackHole = false
        var waitsForConnect: Bool
        var head: [UInt8] = []
    }

    let port: Int
    /// The first lines of the CONNECT requests that came.
    private(set) var connectLines: [String] = []
    /// The answer to a CONNECT; nil for a plain relay.
    var connectAnswer: String?
    private let target: Int
    private let listener: CInt
    private var pairs: [Pair] = []

    init(to target: Int) {
        self.target = target
        (listener, port) = Self.listening()
    }

    deinit {
        cut()
        Glibc.close(listener)
    }

    var descriptors: [CInt] { [listener] + pairs.flatMap { [$0.near, $0.far] } }
    var nextDeadlineMilliseconds: Int64? { nil }

    /// Passes no more bytes on the connections there are, without closing them.
    func swallow() {
        for index in pairs.indices { pairs[index].isBlackHole = true }
    }

    /// Closes the connections there are.
    func cut() {
        for pair in pairs { drop(pair) }
        pairs = []
    }

    func process(nowMilliseconds: Int64) {
        if Self.isReadable(listener) { accept() }
        for index in pairs.indices.reversed() where !pass(&pairs[index]) {
            drop(pairs.remove(at: index))
        }
    }

    private func accept() {
        let near = Glibc.accept(listener, nil, nil)
        let far = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(target)
        Self.withAddress(&address) { _ = connect(far, $0, $1) }
        pairs.append(Pair(near: near, far: far, waitsForConnect: connectAnswer != nil))
    }

    private func pass(_ pair: inout Pair) -> Bool {
        if pair.waitsForConnect { return readConnect(&pair) }
        return copy(pair.near, pair.far, pair.isBlackHole) && copy(pair.far, pair.near, pair.isBlackHole)
    }

    private func copy(_ from: CInt, _ to: CInt, _ isBlackHole: Bool) -> Bool {
        guard Self.isReadable(from) else { return true }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(from, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        return isBlackHole || send(to, &buffer, count, CInt(MSG_NOSIGNAL)) == count
    }

    private func readConnect(_ pair: inout Pair) -> Bool {
        while Self.isReadable(pair.near), !pair.head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            var byte: UInt8 = 0
            guard recv(pair.near, &byte, 1, 0) == 1 else { return false }
            pair.head.append(byte)
        }
        guard pair.head.suffix(4).elementsEqual([13, 10, 13, 10]) else { return true }
        connectLines.append(String(decoding: pair.head.prefix { $0 != 13 }, as: UTF8.self))
        var answer = Array((connectAnswer ?? "").utf8)
        pair.waitsForConnect = false
        return send(pair.near, &answer, answer.count, CInt(MSG_NOSIGNAL)) == answer.count
    }

    private func drop(_ pair: Pair) {
        Glibc.close(pair.near)
        Glibc.close(pair.far)
    }

    private static func listening() -> (CInt, Int) {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = loopback(0)
        withAddress(&address) { _ = bind(listener, $0, $1) }
        listen(listener, 16)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(listener, $0, &length) }
        }
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func isReadable(_ descriptor: CInt) -> Bool {
        var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&one, 1, 0) > 0
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func withAddress(
        _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void
    ) {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
