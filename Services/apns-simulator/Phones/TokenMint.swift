/// What a device token stands for.
struct TokenReference: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        /// Ordinary alert pushes to a phone.
        case device
        /// Starts on a phone.
        case start
        /// Updates and the end of one activity.
        case activity
    }

    var kind: Kind
    /// Which of the phone's attributes types a start token is for.
    var type: UInt8 = 0
    /// How many tokens came before it in its place; at most 26 bits.
    var generation: UInt32
    /// The phone, or for an activity token the activity's slot.
    var index: UInt32

    /// The reference as one word.
    var packed: UInt64 {
        UInt64(kind.rawValue) << 62 | UInt64(type & 15) << 58 | UInt64(generation & 0x3FF_FFFF) << 32
            | UInt64(index)
    }

    init(kind: Kind, type: UInt8 = 0, generation: UInt32, index: UInt32) {
        self.kind = kind
        self.type = type
        self.generation = generation
        self.index = index
    }

    /// Takes a packed reference apart.
    init?(packed: UInt64) {
        guard let kind = Kind(rawValue: UInt8(packed >> 62)) else { return nil }
        self.kind = kind
        type = UInt8(packed >> 58 & 15)
        generation = UInt32(packed >> 32 & 0x3FF_FFFF)
        index = UInt32(truncatingIfNeeded: packed)
    }
}

/// Makes device tokens that say, to who knows the seed, what they stand for.
///
/// So no table of tokens is needed, however many phones there are: a token is a scrambled reference followed by words
/// that only the seed explains, and anything else is unknown. Lengths differ by kind, because Apple asks providers not
/// to assume any.
struct TokenMint: Sendable {
    /// Lengths in bytes; multiples of eight, at least sixteen.
    struct Lengths: Sendable {
        var device = 32
        var liveActivity = 80
    }

    private let key: UInt64
    private let lengths: Lengths

    init(seed: UInt64, lengths: Lengths = Lengths()) {
        key = Self.scramble(seed &+ 0x9E37_79B9_7F4A_7C15)
        self.lengths = lengths
    }

    /// The token for a reference, in lower-case hex.
    func token(for reference: TokenReference) -> String {
        let packed = reference.packed
        var text: [UInt8] = []
        text.reserveCapacity(length(of: reference.kind) * 2)
        Hex.append(Self.scramble(packed ^ key), to: &text)
        for place in 1..<length(of: reference.kind) / 8 { Hex.append(filler(packed, place), to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// What a token in hex stands for, or nil if it was not made here.
    func reference(of hex: Span<UInt8>) -> TokenReference? {
        guard let first = Hex.word(in: hex, at: 0) else { return nil }
        let packed = Self.unscramble(first) ^ key
        guard let reference = TokenReference(packed: packed), hex.count == length(of: reference.kind) * 2
        else { return nil }
        for place in 1..<length(of: reference.kind) / 8 {
            guard Hex.word(in: hex, at: place * 16) == filler(packed, place) else { return nil }
        }
        return reference
    }

    private func length(of kind: TokenReference.Kind) -> Int {
        kind == .device ? lengths.device : lengths.liveActivity
    }

    private func filler(_ packed: UInt64, _ place: Int) -> UInt64 {
        Self.scramble(packed &+ key &* UInt64(place * 2 + 1))
    }

    /// The finalizer of SplitMix64: every bit of the result depends on every bit of `word`, and it can be undone.
    static func scramble(_ word: UInt64) -> UInt64 {
        var mixed = word
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    private static func unscramble(_ word: UInt64) -> UInt64 {
        var mixed = word
        mixed = (mixed ^ mixed >> 31 ^ mixed >> 62) &* 0x3196_42B2_D24D_8EC3
        mixed = (mixed ^ mixed >> 27 ^ mixed >> 54) &* 0x96DE_1B17_3F11_9089
        return mixed ^ mixed >> 30 ^ mixed >> 60
    }
}
