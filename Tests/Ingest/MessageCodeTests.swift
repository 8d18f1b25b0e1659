import Testing

@testable import ingest

@Suite struct MessageCodeTests {
    private let codes = MessageCode(secret: [UInt8](0..<32))

    @Test(
        arguments: [1, 2, 255, 65_536, 4_294_967_295, 4_294_967_296, 9_007_199_254_740_993, .max] as [Int64])
    func `a code leads back to its sequence`(_ sequence: Int64) {
        let code = codes.code(sequence)
        #expect(code.wholeMatch(of: /[0-9A-F]{4}-[0-9A-F]{8}-[0-9A-F]{8}/) != nil)
        #expect(codes.sequence(code) == sequence)
    }

    @Test func `neighbours do not look like neighbours`() {
        let all = (1...2_000).map { codes.code(Int64($0)) }
        #expect(Set(all).count == 2_000)
        #expect(Set(all.map { $0.prefix(4) }).count > 1_500)
        #expect(Set(all.map { $0.suffix(8) }).count == 2_000)
    }

    @Test(arguments: [
        "", "-", "0000-00000000-00000000", "C3F8-C3863ED4-334AD4F1", "XXXXX-XXXXXXXX-XXXXXXXX",
        "C3F8C3863ED4334AD4F1", "C3F8-C3863ED4-334AD4F1-00", "ZZZZ-ZZZZZZZZ-ZZZZZZZZ", "é8-C3863ED4-334AD4F1",
    ])
    func `what is none of ours is nothing`(_ text: String) {
        #expect(codes.sequence(text) == nil)
    }

    @Test func `another store's codes are nothing here`() {
        let other = MessageCode(secret: [UInt8](repeating: 9, count: 32))
        let found = (1...1_000).compactMap { other.sequence(codes.code(Int64($0))) }
        #expect(found.count < 5)
    }
}
