import Crypto
import Foundation
import Testing

@Suite struct ProviderKeyTests {
    private func object(_ part: Substring) throws -> [String: any Sendable] {
        let bytes = try #require(Base64URL.decode(part))
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: any Sendable])
    }

    @Test func `a provider token has the header, claims and signature that APNs asks for`() throws {
        let key = try ProviderKey.generate()
        let token = try key.providerToken(
            keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAtSeconds: 1_437_179_036)
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        #expect(parts.count == 3 && !token.contains("="))
        let header = try object(parts[0])
        #expect(header.keys.sorted() == ["alg", "kid"])
        #expect(header["alg"] as? String == "ES256" && header["kid"] as? String == "ABC123DEFG")
        let claims = try object(parts[1])
        #expect(claims.keys.sorted() == ["iat", "iss"])
        #expect(claims["iss"] as? String == "DEF123GHIJ" && claims["iat"] as? Int == 1_437_179_036)
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(signature.count == 64)
        #expect(try key.verifyingKey().verify(signature, over: utf8(parts[0] + "." + parts[1])))
    }

    @Test(arguments: ["", "ABCDE12345\n", "A B", #"A","x":"y"#, "ÄBCDE12345"])
    func `an identifier that would break the token is refused`(identifier: String) throws {
        let key = try ProviderKey.generate()
        #expect(throws: CryptoError.self) {
            try key.providerToken(keyID: identifier, teamID: "DEF123GHIJ", issuedAtSeconds: 1)
        }
        #expect(throws: CryptoError.self) {
            try key.providerToken(keyID: "ABC123DEFG", teamID: identifier, issuedAtSeconds: 1)
        }
    }

    @Test func `the command-line tool accepts a signature`() throws {
        let folder = try Folder()
        let key = try ProviderKey.generate()
        try folder.write(utf8(try key.publicPEM()), "public")
        try folder.write(utf8("message"), "message")
        let raw = try key.sign(utf8("message"))
        try folder.write(der(raw), "signature")
        let answer = try folder.shell("openssl dgst -sha256 -verify public -signature signature message")
        #expect(String(decoding: answer, as: UTF8.self) == "Verified OK\n")
    }

    /// Writes a raw signature as the ASN.1 structure, independently of the module.
    private func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = [UInt8](bytes.drop { $0 == 0 })
            if digits.first.map({ $0 > 0x7F }) ?? true { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        let body = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(body.count)] + body
    }

    @Test func `many signatures all have 64 bytes and differ`() throws {
        let key = try ProviderKey.generate()
        let verifying = try key.verifyingKey()
        var seen: Set<[UInt8]> = []
        for number in 0..<600 {
            let bytes = utf8("\(number % 2)")
            let signature = try key.sign(bytes)
            #expect(signature.count == 64 && verifying.verify(signature, over: bytes))
            #expect(verifying.verify(der(signature), over: bytes, form: .rawOrDER))
            seen.insert(signature)
        }
        #expect(seen.count == 600)
    }

    @Test func `a written key is read back and is for the owner alone`() throws {
        let folder = try Folder()
        let key = try ProviderKey.generate()
        try folder.write([1], "k")
        try folder.shell("chmod 644 k")
        try PrivateFile.write(try key.privatePEM(), to: folder.file("k"))
        #expect(try folder.mode("k") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["k"])
        let read = try ProviderKey.load(file: folder.file("k"))
        #expect(try read.publicPEM() == key.publicPEM() && read.warnings == [])
        #expect(try key.privatePEM().hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    }

    @Test func `a file that cannot be written is reported and leaves no draft`() throws {
        let folder = try Folder()
        #expect(throws: PrivateFile.Failure.self) { try PrivateFile.write("x", to: folder.file("no/k")) }
        try folder.shell("mkdir -p k/full")
        let failure = #expect(throws: PrivateFile.Failure.self) {
            try PrivateFile.write("x", to: folder.file("k"))
        }
        #expect(failure?.call == "rename" && failure?.code == EISDIR)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["k"])
    }
}
