import Crypto

/// Turns the journal's sequence into the code that a caller gets, and back, so that no index of codes is needed.
///
/// Twenty hex digits: 16 bits that only who knows the secret can tell from others, then the sequence under a
/// permutation. So codes do not tell how many messages there are, and none can be guessed.
struct MessageCode: Sendable {
    /// How many bytes the secret has.
    static let secretBytes = 32

    private let secret: [UInt8]
    private static let rounds: [UInt8] = [0, 1, 2, 3]
    private static let textBytes = 22
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Takes the store's secret.
    init(secret: [UInt8]) {
        self.secret = secret
    }

    /// The code of a sequence, such as `C3F8-C3863ED4-334AD4F1`.
    func code(_ sequence: Int64) -> String {
        var (left, right) = MessageCode.halves(UInt64(bitPattern: sequence))
        for round in MessageCode.rounds { (left, right) = (right, left ^ mix(round, right)) }
        var text: [UInt8] = []
        text.reserveCapacity(MessageCode.textBytes)
        MessageCode.append(check(left, right), digits: 4, to: &text)
        text.append(UInt8(ascii: "-"))
        MessageCode.append(left, digits: 8, to: &text)
        text.append(UInt8(ascii: "-"))
        MessageCode.append(right, digits: 8, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The sequence of a code; nil for what is none of ours.
    func sequence(_ code: String) -> Int64? {
        let parts = code.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 8, 8],
            let mark = UInt32(parts[0], radix: 16), var left = UInt32(parts[1], radix: 16),
            var right = UInt32(parts[2], radix: 16), mark == check(left, right)
        else { return nil }
        for round in MessageCode.rounds.reversed() { (left, right) = (right ^ mix(round, left), left) }
        let sequence = Int64(bitPattern: UInt64(left) << 32 | UInt64(right))
        return sequence > 0 ? sequence : nil
    }

    private func mix(_ round: UInt8, _ half: UInt32) -> UInt32 { keyed(round, half) }

    private func check(_ left: UInt32, _ right: UInt32) -> UInt32 {
        keyed(UInt8(ascii: "c"), left, right) >> 16
    }

    private func keyed(_ purpose: UInt8, _ halves: UInt32...) -> UInt32 {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(secret.count + 9)
        bytes += secret
        bytes.append(purpose)
        for half in halves {
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: half >> UInt32(shift))) }
        }
        return SHA256.digest(bytes).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func halves(_ value: UInt64) -> (UInt32, UInt32) {
        (UInt32(truncatingIfNeeded: value >> 32), UInt32(truncatingIfNeeded: value))
    }

    private static func append(_ value: UInt32, digits count: UInt32, to text: inout [UInt8]) {
        for place in (0..<count).reversed() { text.append(digits[Int(value >> (place * 4) & 0xF)]) }
    }
}
