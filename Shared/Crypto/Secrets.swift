internal import COpenSSL

/// Compares two secrets in a time that does not depend on where they differ.
///
/// Their lengths are not kept secret.
public func constantTimeEquals(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}

/// Compares the UTF-8 of two secrets in a time that does not depend on where they differ.
///
/// Their lengths are not kept secret.
public func constantTimeEquals(_ a: String, _ b: String) -> Bool {
    constantTimeEquals([UInt8](a.utf8), [UInt8](b.utf8))
}

/// Draws bytes from the kernel's random source, fit for keys and tokens.
public func randomBytes(_ count: Int) -> [UInt8] {
    var source = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
        let word: UInt64 = source.next()
        for shift in stride(from: 0, to: 64, by: 8).prefix(count - bytes.count) {
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
        }
    }
    return bytes
}

/// Draws 64 bits from the kernel's random source.
public func randomUInt64() -> UInt64 {
    var source = SystemRandomNumberGenerator()
    return source.next()
}
