import Contracts
import Crypto
import FoundationEssentials
import Service
import Synchronization
import Telemetry
import Testing

@testable import apns_gateway

@Suite struct StoredTokenTests {
    private static func token(_ issued: Int64 = 0, replacement: Bool = false) -> StoredToken {
        StoredToken(text: "a.b.c", issuedAtSeconds: issued, isReplacement: replacement, keyDigest: "k")
    }

    @Test(arguments: [
        (Int64(0), StoredToken.Advice.use), (2_999, .use), (3_000, .make(isReplacement: false)),
        (90_000, .make(isReplacement: false)), (-60, .use), (-61, .make(isReplacement: true)),
    ])
    func `a token is used for 50 minutes, and not if the clock was set back`(
        age: Int64, advice: StoredToken.Advice
    ) {
        let found = StoredToken.advice(
            Self.token(10_000), keyDigest: "k", refused: nil, nowSeconds: 10_000 + age)
        #expect(found == advice)
    }

    @Test(arguments: [
        (false, Int64(1), StoredToken.Advice.make(isReplacement: true)),
        (true, 0, .keepThoughRefused), (true, 1_199, .keepThoughRefused),
        (true, 1_200, .make(isReplacement: true)), (true, -5, .make(isReplacement: true)),
    ])
    func `a refused token is replaced once, and then not for 20 minutes`(
        isReplacement: Bool, age: Int64, advice: StoredToken.Advice
    ) {
        let found = StoredToken.advice(
            Self.token(replacement: isReplacement), keyDigest: "k", refused: "a.b.c", nowSeconds: age)
        #expect(found == advice)
    }

    @Test func `a token of another key is none, and no token is none`() {
        #expect(
            StoredToken.advice(Self.token(), keyDigest: "other", refused: nil, nowSeconds: 1)
                == .make(isReplacement: false))
        #expect(
            StoredToken.advice(nil, keyDigest: "k", refused: nil, nowSeconds: 1)
                == .make(isReplacement: false))
    }

    @Test func `a file is read as it was written`() {
        let token = Self.token(1_800_000_000, replacement: true)
        #expect(StoredToken(file: Array(token.fileText.utf8)) == token)
    }

    @Test(arguments: [
        "", "{}", "null", #"{"token":"","issuedAtSeconds":1,"isReplacement":false,"keyDigest":"k"}"#,
        #"{"token":"a\nb","issuedAtSeconds":1,"isReplacement":false,"keyDigest":"k"}"#,
        #"{"token":"a","issuedAtSeconds":9223372036854775807,"isReplacement":false,"keyDigest":"k"}"#,
    ])
    func `anything else is no token`(text: String) {
        #expect(StoredToken(file: Array(text.utf8)) == nil)
    }
}

/// Seconds since 1970 that a test moves.
final class WallClock: Sendable {
    private let seconds = Mutex<Int64>(1_800_000_000)

    var now: Int64 { seconds.withLock { $0 } }

    func advance(minutes: Int64) { seconds.withLock { $0 += minutes * 60 } }
}

@Suite struct ProviderTokensTests {
    let directory: TemporaryDirectory
    let keyFile: String
    let clock = WallClock()
    static let name = KeyRing.Name(teamID: "TEAM123456", keyID: "KEY1234567")

    init() throws {
        directory = try TemporaryDirectory()
        keyFile = try directory.write("key.p8", ProviderKey.generate().privatePEM())
    }

    /// One process's tokens, its log and its count of tokens made.
    private struct Process {
        let tokens: ProviderTokens
        let lines = Lines()
        let made = Metrics().counter("made_total", help: "Made.").series()

        init(_ tests: ProviderTokensTests, directory: String? = nil) throws {
            tokens = ProviderTokens(
                directory: directory ?? tests.directory.path, ring: try tests.ring(),
                nowSeconds: { [clock = tests.clock] in clock.now }, logger: lines.logger(), made: made)
        }

        var text: String? {
            if case .token(let token) = tokens.current(name) { token.text } else { nil }
        }

        func refused(_ text: String) -> Bool { tokens.refused(text, name) }
    }

    private func ring(_ file: String? = nil) throws -> KeyRing {
        var key = Bench.key
        key.file = file ?? keyFile
        return try KeyRing(Bench.configuration(keys: [key]))
    }

    private var path: String { "\(directory.path)/provider-token.TEAM123456.KEY1234567" }

    @Test func `two processes use one token, which its owner alone can read`() throws {
        let (one, other) = (try Process(self), try Process(self))
        let text = try #require(one.text)
        #expect(other.text == text)
        #expect(one.made.value == 1)
        #expect(other.made.value == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(
            attributes[.posixPermissions] as? UInt16 == 0o600
                || attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a token is replaced after 50 minutes, by whoever finds it first`() throws {
        let (one, other) = (try Process(self), try Process(self))
        let text = one.text
        clock.advance(minutes: 49)
        #expect(one.text == text)
        #expect(other.text == text)
        clock.advance(minutes: 1)
        let next = other.text
        #expect(next != text)
        #expect(one.text == next)
        #expect(other.made.value == 1)
        #expect(one.made.value == 1)
    }

    @Test func `a token made late in a period lasts its own 50 minutes`() throws {
        let process = try Process(self)
        clock.advance(minutes: 49)
        let text = process.text
        clock.advance(minutes: 49)
        #expect(process.text == text)
    }

    @Test func `a refused token is replaced once for all processes, and not again for 20 minutes`() throws {
        let (one, other) = (try Process(self), try Process(self))
        let text = try #require(one.text)
        _ = other.text
        #expect(one.refused(text))
        #expect(one.refused(text))
        #expect(other.refused(text))
        let next = try #require(one.text)
        #expect(other.text == next)
        #expect(one.made.value + other.made.value == 2)
        #expect(!one.refused(next))
        #expect(!other.refused(next))
        #expect(one.text == next)
        #expect(one.lines.all.count { $0.contains("provider-token-refused") } == 1)
        clock.advance(minutes: 20)
        #expect(other.refused(next))
        #expect(other.made.value == 1)
    }

    @Test func `while another process holds the lock the last token serves`() throws {
        let process = try Process(self)
        let text = process.text
        clock.advance(minutes: 51)
        var lock = try PrivateFile.Lock(path + ".lock")
        #expect(lock != nil)
        #expect(process.text == text)
        clock.advance(minutes: 5)
        #expect(process.tokens.current(Self.name) == .busy)
        lock = nil
        #expect(process.text != nil)
        #expect(process.made.value == 2)
    }

    @Test func `a token refused while another process holds the lock is not used again`() throws {
        let process = try Process(self)
        let text = try #require(process.text)
        var lock = try PrivateFile.Lock(path + ".lock")
        #expect(lock != nil)
        #expect(process.refused(text))
        #expect(process.tokens.current(Self.name) == .busy)
        lock = nil
        #expect(process.text != text)
    }

    @Test func `a clock that was set back makes a token with the new time`() throws {
        let process = try Process(self)
        let text = process.text
        clock.advance(minutes: -120)
        #expect(process.text != text)
        #expect(process.made.value == 2)
        clock.advance(minutes: 1)
        _ = process.text
        #expect(process.made.value == 2)
    }

    @Test func `a file that holds something else is replaced`() throws {
        try PrivateFile.write("junk", to: path)
        #expect(try Process(self).text != nil)
        #expect(try Process(self).text == Process(self).text)
    }

    @Test func `a directory that cannot be written costs one token, not one for each push`() throws {
        let process = try Process(self, directory: directory.path + "/none")
        let text = process.text
        #expect(text != nil)
        #expect(process.text == text)
        #expect(process.made.value == 1)
        #expect(process.lines.all.count { $0.contains("provider-token-not-stored") } == 1)
    }

    @Test func `another key under the same names makes a new token`() throws {
        let process = try Process(self)
        let text = process.text
        let file = try directory.write("other.p8", ProviderKey.generate().privatePEM())
        process.tokens.replace(ring: try ring(file))
        #expect(process.text != text)
    }

    @Test func `no log line holds a token`() throws {
        let process = try Process(self)
        let text = try #require(process.text)
        #expect(process.refused(text))
        #expect(!process.lines.all.contains { $0.contains(text) })
        #expect(!process.lines.all.isEmpty)
    }
}
