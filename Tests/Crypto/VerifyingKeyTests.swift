import Crypto
import Testing

@Suite struct VerifyingKeyTests {
    @Test func `a signature holds for its bytes and its key alone`() throws {
        let key = try ProviderKey.generate()
        let verifying = try VerifyingKey(pem: utf8(try key.publicPEM()))
        let signature = try key.sign(utf8("message"))
        #expect(verifying.verify(signature, over: utf8("message")))
        #expect(!verifying.verify(signature, over: utf8("messagf")))
        #expect(!(try ProviderKey.generate().verifyingKey().verify(signature, over: utf8("message"))))
        for bit in 0..<512 {
            var tampered = signature
            tampered[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!verifying.verify(tampered, over: utf8("message")), "bit \(bit)")
        }
    }

    @Test(arguments: [0, 1, 63, 64, 65, 72, 1_000])
    func `junk is no signature`(count: Int) throws {
        let verifying = try ProviderKey.generate().verifyingKey()
        for byte in [UInt8(0), 1, 0x30, 0xFF] {
            let junk = [UInt8](repeating: byte, count: count)
            #expect(!verifying.verify(junk, over: utf8("message"), form: .rawOrDER))
        }
    }

    @Test func `the tool's DER form is taken only where asked for`() throws {
        let folder = try Folder()
        try folder.shell("openssl ecparam -name prime256v1 -genkey -noout -out k; printf message > m")
        let signature = try folder.shell("openssl dgst -sha256 -sign k m")
        let verifying = try ProviderKey.load(file: folder.file("k")).verifyingKey()
        #expect(verifying.verify(signature, over: utf8("message"), form: .rawOrDER))
        #expect(!verifying.verify(signature, over: utf8("message")))
        #expect(!verifying.verify(signature + [0], over: utf8("message"), form: .rawOrDER))
    }

    @Test func `an RSA key checks what a service account signs`() throws {
        let folder = try Folder()
        try folder.shell("openssl genrsa -out k 2048; openssl rsa -in k -pubout -out p; printf message > m")
        try folder.shell("openssl req -x509 -key k -subj /CN=a -out c")
        let signature = try folder.shell("openssl dgst -sha256 -sign k m")
        for name in ["p", "c"] {
            let verifying = try VerifyingKey.load(file: folder.file(name), algorithm: .rs256)
            #expect(verifying.verify(signature, over: utf8("message")))
            #expect(!verifying.verify(signature, over: utf8("massage")))
            #expect(!verifying.verify([UInt8](signature.reversed()), over: utf8("message")))
            #expect(verifying.algorithm == .rs256)
        }
    }

    @Test(
        arguments: [
            ("openssl ecparam -name prime256v1 -genkey -noout -out k", .es256, .privateKey),
            ("openssl genrsa 2048 | openssl rsa -pubout -out k", .es256, .rsa),
            ("openssl genrsa 1024 | openssl rsa -pubout -out k", .rs256, .rsaTooShort(bits: 1_024)),
            (
                "openssl ecparam -name secp384r1 -genkey | openssl ec -pubout -out k", .es256,
                .wrongCurve("secp384r1")
            ),
            (
                "openssl ecparam -name prime256v1 -genkey | openssl ec -pubout -out k", .rs256,
                .wrongAlgorithm("EC")
            ),
            (
                "openssl genpkey -algorithm X25519 | openssl pkey -pubout -out k", .es256,
                .wrongAlgorithm("X25519")
            ),
            ("openssl ecparam -name prime256v1 -out k", .es256, .otherPEM("EC PARAMETERS")),
            (": > k", .es256, .empty), ("echo hello > k", .es256, .notPEM), ("mkdir k", .es256, .directory),
        ] as [(String, VerifyingKey.Algorithm, KeyFault)])
    func `a wrong kind of file is refused with its own reason`(
        line: String, algorithm: VerifyingKey.Algorithm, fault: KeyFault
    ) throws {
        let folder = try Folder()
        try folder.shell(line)
        let failure = #expect(throws: KeyFileError.self) {
            try VerifyingKey.load(file: folder.file("k"), algorithm: algorithm)
        }
        #expect(failure?.fault == fault)
    }

    @Test func `a key is written as it was read`() throws {
        let pem = try ProviderKey.generate().publicPEM()
        #expect(try VerifyingKey(pem: utf8(pem)).pem() == pem)
        #expect(pem.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
    }
}
