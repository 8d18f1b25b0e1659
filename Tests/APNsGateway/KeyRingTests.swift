import Contracts
import Crypto
import Service
import Testing

@testable import apns_gateway

@Suite struct KeyRingTests {
    @Test func `key-wrong-kind: every file that is refused is named with its own reason`() throws {
        let directory = try TemporaryDirectory()
        let keys = [
            ("empty.p8", "", "is empty"),
            ("text.p8", "hello", "holds no PEM block"),
            (
                "public.pem", try ProviderKey.generate().publicPEM(),
                "holds a public key; a private key is needed"
            ),
            (
                "certificate.pem", try SelfSignedCertificate.make(hosts: ["localhost"]).certificatePEM,
                "holds a certificate; a private key is needed"
            ),
        ]
        var configuration = Bench.configuration(keys: [])
        for (number, (name, text, _)) in keys.enumerated() {
            let file = try directory.write(name, text)
            configuration.applications[0].keys.append(
                Configuration.Key(teamID: "TEAM123456", keyID: "KEY000000\(number)", file: file))
        }
        let failure = #expect(throws: ServiceFailure.self) { try KeyRing(configuration) }
        #expect(failure?.code == .configuration)
        for (name, _, reason) in keys {
            #expect(failure?.problem.contains("\(name) \(reason)") == true)
        }
    }

    @Test(arguments: [
        ("TEAM12345", "KEY1234567"), ("", "KEY1234567"), ("TEAM123456", "KEY123456\n"),
        ("TEAM123456", "ABCDE1234"),
        ("TEAM 12345", "KEY1234567"), ("TEAM123456", "KEY12345678"),
    ])
    func `jwt-config-swapped: a name of another form is refused`(teamID: String, keyID: String) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("key.p8", ProviderKey.generate().privatePEM())
        let key = Configuration.Key(teamID: teamID, keyID: keyID, file: file)
        #expect(throws: ServiceFailure.self) { try KeyRing(Bench.configuration(keys: [key])) }
    }

    @Test func `a key that several applications name is loaded once`() throws {
        let directory = try TemporaryDirectory()
        var key = Bench.key
        key.file = try directory.write("key.p8", ProviderKey.generate().privatePEM())
        var configuration = Bench.configuration(keys: [key])
        var second = configuration.applications[0]
        second.code = "BBBBB-00002"
        configuration.applications.append(second)
        #expect(try KeyRing(configuration).keys.count == 1)
    }
}
