internal import COpenSSL

/// The SHA-256 digest of bytes.
public enum SHA256 {
    /// Computes the digest, 32 bytes.
    public static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe liveline_sha256(algorithm.pointer, bytes, bytes.count, &digest)
        return digest
    }

    private static let algorithm = Algorithm()

    /// OpenSSL's implementation of the digest; it is never released and only read.
    @safe private struct Algorithm: @unchecked Sendable {
        let pointer: OpaquePointer?

        init() { unsafe pointer = unsafe liveline_sha256_algorithm() }
    }

    /// Computes the digest as 64 lower-case hex digits.
    public static func hex(_ bytes: [UInt8]) -> String { Hex.text(digest(bytes)) }

    /// Computes the digest of a text's UTF-8 as 64 lower-case hex digits.
    public static func hex(_ text: String) -> String { hex([UInt8](text.utf8)) }
}

enum Hex {
    private static let digits = [UInt8]("0123456789abcdef".utf8)

    static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
    }

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
