import Crypto
import Testing

@Suite struct SecretsTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `a digest is the one of the standard`(text: String, hex: String) {
        #expect(SHA256.hex(text) == hex)
        #expect(SHA256.hex(utf8(text)) == hex)
        #expect(SHA256.digest(utf8(text)).count == 32)
    }

    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("secret", "secret", true), ("secret", "Secret", false),
        ("secret", "secre", false), ("", "a", false), ("e\u{301}", "é", false),
    ])
    func `secrets are equal byte for byte`(a: String, b: String, equal: Bool) {
        #expect(constantTimeEquals(a, b) == equal)
        #expect(constantTimeEquals(utf8(a), utf8(b)) == equal)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 33])
    func `as many random bytes come as were asked for`(count: Int) {
        #expect(randomBytes(count).count == count)
    }

    @Test func `random values do not repeat and use all bits`() {
        #expect(Set((0..<1_000).map { _ in randomBytes(16) }).count == 1_000)
        let words = (0..<200).map { _ in randomUInt64() }
        #expect(Set(words).count == 200)
        #expect(words.reduce(0, |) == .max && words.reduce(.max, &) == 0)
        let columns = (0..<200).map { _ in randomBytes(9) }
        for column in 0..<9 { #expect(columns.reduce(0) { $0 | $1[column] } == 0xFF) }
    }
}
