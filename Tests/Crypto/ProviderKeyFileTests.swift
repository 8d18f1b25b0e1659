import Crypto
import Foundation
import Testing

@Suite struct ProviderKeyFileTests {
    private static let generate = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:"

    /// Shell lines that make the file `k`, and the fault that it has.
    static let wrong: [(String, KeyFault)] = [
        ("openssl genrsa -out k 2048", .rsa),
        ("openssl genrsa -traditional -out k 2048", .rsa),
        ("openssl genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out k", .rsa),
        ("\(generate)P-384 -out k", .wrongCurve("secp384r1")),
        ("\(generate)secp256k1 -out k", .wrongCurve("secp256k1")),
        ("openssl ecparam -name secp521r1 -genkey -noout -out k", .wrongCurve("secp521r1")),
        ("openssl genpkey -algorithm ED25519 -out k", .wrongAlgorithm("ED25519")),
        ("\(generate)P-256 -aes256 -pass pass:x -out k", .encrypted),
        ("openssl ecparam -name prime256v1 -genkey | openssl ec -aes128 -passout pass:x -out k", .encrypted),
        ("openssl genrsa -traditional -aes128 -passout pass:x -out k 2048", .encrypted),
        (
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a -keyout x -out k",
            .certificate
        ),
        (
            "openssl req -newkey rsa:2048 -nodes -subj /CN=a -keyout x -out k",
            .otherPEM("CERTIFICATE REQUEST")
        ),
        ("\(generate)P-256 | openssl pkey -pubout -out k", .publicKey),
        ("\(generate)P-256 -outform DER -out k", .notPEM),
        ("\(generate)P-256 | grep -v BEGIN > k", .notPEM),
        ("\(generate)P-256 | sed '2s/^..../AAAA/' > k", .damaged),
        ("\(generate)P-256 | sed '2s/^.*$/!!!!/' > k", .notPEM),
        ("openssl ecparam -name prime256v1 -out k", .otherPEM("EC PARAMETERS")),
        (": > k", .empty),
        ("mkdir k", .directory),
        ("mkfifo k", .notAFile),
        (":", .unreadable(ENOENT)),
        ("head -c 70000 /dev/zero > k", .tooLarge(bytesMax: 65_536)),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: wrong)
    func `key-wrong-kind: it is refused with its own reason`(line: String, fault: KeyFault) throws {
        let folder = try Folder()
        try folder.shell(line)
        let failure = #expect(throws: KeyFileError.self) { try ProviderKey.load(file: folder.file("k")) }
        #expect(failure?.fault == fault)
        #expect(failure?.file == folder.file("k"))
        #expect(failure?.description.hasPrefix("key file \(folder.file("k")) ") == true)
    }

    @Test func `each fault has words of its own`() {
        let faults = Self.wrong.map(\.1) + [.privateKey, .rsaTooShort(bits: 1_024)]
        for one in faults {
            for other in faults { #expect((one == other) == ("\(one)" == "\(other)")) }
        }
    }

    @Test(arguments: [
        "\(generate)P-256 -out k",
        "\(generate)P-256 | sed 's/$/\\r/' > k",
        "(printf '\\357\\273\\277'; \(generate)P-256) > k",
        "(echo 'a note'; \(generate)P-256; echo) > k",
        "openssl ecparam -name prime256v1 -genkey -noout -out k",
        "openssl ecparam -name prime256v1 -genkey -out k",
    ])
    func `key-wrong-kind: a P-256 key is taken in either form`(line: String) throws {
        let folder = try Folder()
        try folder.shell(line)
        let key = try ProviderKey.load(file: folder.file("k"))
        #expect(key.warnings == [])
        let bytes = utf8("liveline")
        #expect(try key.verifyingKey().verify(try key.sign(bytes), over: bytes))
    }

    @Test(
        arguments: [(0o600, []), (0o640, []), (0o644, [.openToOthers]), (0o602, [.openToOthers])]
            as [(Int, [ProviderKey.Warning])])
    func `key-wrong-kind: a key that others can reach works with a warning`(
        mode: Int, warnings: [ProviderKey.Warning]
    ) throws {
        let folder = try Folder()
        try folder.shell("\(Self.generate)P-256 -out k; chmod \(String(mode, radix: 8)) k")
        #expect(try ProviderKey.load(file: folder.file("k")).warnings == warnings)
    }

    @Test func `a private number that does not belong to the public point is refused`() throws {
        let folder = try Folder()
        try folder.shell("for n in a b; do \(Self.generate)P-256 -outform DER -out $n; done")
        let (a, b) = (try folder.bytes("a"), try folder.bytes("b"))
        // In this form the public point is the last 65 bytes.
        try folder.write(a.dropLast(65) + b.suffix(65), "c")
        try folder.shell(
            "(echo '-----BEGIN PRIVATE KEY-----'; base64 c; echo '-----END PRIVATE KEY-----') > k")
        let failure = #expect(throws: KeyFileError.self) { try ProviderKey.load(file: folder.file("k")) }
        #expect(failure?.fault == .damaged)
    }
}
