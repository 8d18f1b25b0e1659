import Crypto
import Testing

@Suite struct SelfSignedCertificateTests {
    private func saved(_ hosts: [String]) throws -> Folder {
        let folder = try Folder()
        let made = try SelfSignedCertificate.make(hosts: hosts)
        try folder.write(utf8(made.certificatePEM), "c")
        try folder.write(utf8(made.keyPEM), "k")
        return folder
    }

    @Test func `a client that trusts it accepts each of its hosts and no other`() throws {
        let folder = try saved(["localhost", "127.0.0.1", "::1", "*.example.com"])
        let verify = "openssl verify -x509_strict -purpose sslserver -CAfile c"
        for host in ["hostname localhost", "ip 127.0.0.1", "ip ::1", "hostname a.example.com"] {
            try folder.shell("\(verify) -verify_\(host) c")
        }
        for host in ["hostname other", "ip 127.0.0.2", "hostname example.com"] {
            #expect(throws: ShellFailure.self) { try folder.shell("\(verify) -verify_\(host) c") }
        }
        #expect(throws: ShellFailure.self) { try folder.shell("openssl verify c") }
    }

    @Test func `it is valid now and for ten years`() throws {
        let folder = try saved(["localhost"])
        let day = 86_400
        try folder.shell("openssl x509 -in c -noout -checkend \(3_652 * day)")
        #expect(throws: ShellFailure.self) {
            try folder.shell("openssl x509 -in c -noout -checkend \(3_654 * day)")
        }
        try folder.shell("openssl verify -CAfile c -attime $(($(date +%s) - 3000)) c")
    }

    @Test func `its key is P-256 and belongs to it`() throws {
        let folder = try saved(["localhost"])
        let key = try ProviderKey.load(file: folder.file("k"))
        let verifying = try VerifyingKey.load(file: folder.file("c"))
        #expect(verifying.verify(try key.sign(utf8("m")), over: utf8("m")))
    }

    @Test func `no two are the same`() throws {
        let (a, b) = (try saved(["localhost"]), try saved(["localhost"]))
        let serial = "openssl x509 -in c -noout -serial"
        #expect(try a.shell(serial) != b.shell(serial))
        #expect(try a.bytes("k") != b.bytes("k"))
    }

    @Test(arguments: [[], [""], ["a,IP:1.2.3.4"], ["a b"], ["a\n"], ["good", "ümlaut"], ["1::2::3::g"]])
    func `what cannot stand in a certificate is refused`(hosts: [String]) {
        #expect(throws: CryptoError.self) { try SelfSignedCertificate.make(hosts: hosts) }
    }
}
