import Contracts

/// Names that have to be the same whenever they are made again.
enum Identity {
    /// The `apns-id` of a delivery: a lower-case UUID of version 4's form, from the ledger's seed.
    static func apnsID(_ id: PushID, seed: UInt64) -> String {
        let message = mix(seed ^ UInt64(bitPattern: id.message))
        let high = mix(message ^ UInt64(bitPattern: id.device) &* 0x9E37_79B9_7F4A_7C15)
        let low = mix(high ^ message &+ seed)
        let version = high & ~0xF000 | 0x4000
        let variant = low & ~(0b11 << 62) | 0b10 << 62
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 { text.append(UInt8(ascii: "-")) }
            let half = digit < 16 ? version : variant
            let nibble = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (digit & 15))) & 15
            text.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The `apns-collapse-id` of a start: 32 hex digits, the same for the same activity each time.
    ///
    /// A phone that was away then gets one start of an activity, not each run's. Where an activity has no name of
    /// its own (`run` is given) each run has its own.
    static func collapseID(application: String, activity: String, run: Int64?) -> String {
        // FNV-1a with 128 bits: ids differ by mistake only, not by malice, within one application.
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in "\(application)\u{0}\(activity)\u{0}\(run.map(String.init) ?? "")".utf8 {
            hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B
        }
        return hex(UInt64(truncatingIfNeeded: hash >> 64)) + hex(UInt64(truncatingIfNeeded: hash))
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// splitmix64's finaliser: every bit of the input moves half of the bits of the result.
    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
