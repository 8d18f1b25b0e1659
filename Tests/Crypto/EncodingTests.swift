import Crypto
import Testing

@Suite struct Base64URLTests {
    @Test(
        arguments: [
            ([], ""), ([0], "AA"), ([0xFF], "_w"), ([0xFB, 0xEF], "--8"), ([0xFF, 0xFF, 0xFF], "____"),
            ([0x66, 0x6F, 0x6F, 0x62], "Zm9vYg"), ([0x66, 0x6F, 0x6F, 0x62, 0x61, 0x72], "Zm9vYmFy"),
        ] as [([UInt8], String)])
    func `bytes and text stand for each other`(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test func `every length comes back`() {
        for count in 0..<100 {
            let bytes = randomBytes(count)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: ["A", "AAAAA", "AA==", "A A", "AA\n", "+w", "/w", "AB", "AAB", "ÄA", "A\0"])
    func `anything else is refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}

@Suite struct UUIDTextTests {
    @Test func `sixteen bytes become a version 4 UUID in lower case`() {
        #expect(UUIDText.make([UInt8](repeating: 0xFF, count: 16)) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(UUIDText.make([UInt8](0..<16)) == "00010203-0405-4607-8809-0a0b0c0d0e0f")
        #expect(UUIDText.make(0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F) == UUIDText.make([UInt8](0..<16)))
    }

    @Test func `what is made is canonical and new`() {
        let made = (0..<500).map { _ in UUIDText.make(randomBytes(16)) }
        #expect(made.allSatisfy(UUIDText.isCanonicalUUID))
        #expect(Set(made).count == 500)
    }

    @Test(arguments: [
        ("123e4567-e89b-12d3-a456-42661417400a", true), ("123E4567-E89B-12D3-A456-42661417400A", true),
        ("00000000-0000-0000-0000-000000000000", true), ("", false), ("order-12", false),
        ("123e4567-e89b-12d3-a456-42661417400", false), ("123e4567-e89b-12d3-a456-42661417400a0", false),
        ("123e4567e89b12d3a45642661417400a", false), ("{123e4567-e89b-12d3-a456-42661417400}", false),
        ("123e4567-e89b-12d3-a456-42661417400g", false), ("123e4567-e89b-12d3-a456_42661417400a", false),
        ("123e4567-e89b-12d3-a456-42661417400a\n", false), ("１23e4567-e89b-12d3-a456-42661417400a", false),
        ("-23e4567-e89b-12d3-a456-42661417400a", false),
    ])
    func `only 8-4-4-4-12 hex digits are canonical`(text: String, canonical: Bool) {
        #expect(UUIDText.isCanonicalUUID(text) == canonical)
    }
}
