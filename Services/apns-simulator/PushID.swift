import Crypto

/// A push id as two words, whichever case its digits have.
struct PushID: Equatable, Sendable {
    var high: UInt64
    var low: UInt64

    /// - Parameter text: 32 hex digits, with hyphens anywhere.
    init?(_ text: String) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var count = 0
        for byte in text.utf8 where byte != UInt8(ascii: "-") {
            guard let nibble = Hex.value(of: byte) else { return nil }
            words.high = words.high << 4 | words.low >> 60
            words.low = words.low << 4 | UInt64(nibble)
            count += 1
        }
        guard count == 32 else { return nil }
        self.init(high: words.high, low: words.low)
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id in canonical lower-case form.
    var text: String {
        var digits: [UInt8] = []
        Hex.append(high, to: &digits)
        Hex.append(low, to: &digits)
        let ends = [8, 12, 16, 20, 32]
        let parts = zip([0] + ends, ends).map { String(decoding: digits[$0..<$1], as: UTF8.self) }
        return parts.joined(separator: "-")
    }
}

/// The id of one request: as its answer spells it, and as a value.
struct RequestID: Equatable, Sendable {
    let text: String
    let value: PushID

    /// What the caller sent, to be echoed as it is; nil when it sent none or no UUID.
    init?(_ given: String?) {
        guard let given, let value = PushID(given) else { return nil }
        text = given
        self.value = value
    }

    /// An id that APNs makes itself; those come in upper case, as seen in practice.
    init(_ made: PushID) {
        text = made.text.uppercased()
        value = made
    }
}

/// A source of ids that no two requests share.
struct IDSource: Sendable {
    private let seed: UInt64
    private var made: UInt64 = 0

    init(seed: UInt64) { self.seed = seed }

    /// The next id, in the form of a version 4 UUID.
    mutating func next() -> PushID {
        made += 1
        let high = TokenMint.scramble(seed &+ made &* 2)
        let low = TokenMint.scramble(seed &+ made &* 2 &+ 1)
        return PushID(high: high & ~0xF000 | 0x4000, low: low & ~(3 << 62) | 1 << 63)
    }
}
