import Crypto
import Foundation
import JSON
import Service

@testable import ingest

/// A service account with a key of its own, as Google's console would hand it out.
struct ServiceAccount {
    /// One for all tests: making a key takes a while.
    static let shared = Result { try ServiceAccount("shared") }
    /// Another key, which nobody names.
    static let stranger = Result { try ServiceAccount("stranger") }
    /// Where their keys are as long as the tests run.
    private static let directory: Result<String, any Error> = Result {
        let path = "/tmp/ing-keys-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        atexit { try? FileManager.default.removeItem(atPath: (try? ServiceAccount.directory.get()) ?? "") }
        return path
    }

    static let email = "sender@demo.example"
    static let google = "https://oauth2.googleapis.com/token"
    static let messaging = "https://www.googleapis.com/auth/firebase.messaging"
    static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    let publicKeyFile: String
    private let privateKeyFile: String

    private init(_ name: String) throws {
        let path = "\(try Self.directory.get())/\(name)"
        (privateKeyFile, publicKeyFile) = ("\(path).key", "\(path).pem")
        _ = try Self.openssl(["genrsa", "-out", privateKeyFile, "2048"])
        _ = try Self.openssl(["rsa", "-in", privateKeyFile, "-pubout", "-out", publicKeyFile])
    }

    /// What a client posts, with claims that are good unless they are changed; a nil value leaves one out.
    func form(_ changes: [String: String?] = [:], header: String = #"{"alg":"RS256","typ":"JWT"}"#) throws
        -> String
    {
        Self.form(assertion: try assertion(changes, header: header))
    }

    static func form(assertion: String) -> String {
        "assertion=\(assertion)&grant_type=\(grant.replacing(":", with: "%3A"))"
    }

    /// A signed token; values are JSON text.
    func assertion(_ changes: [String: String?] = [:], header: String = #"{"alg":"RS256","typ":"JWT"}"#)
        throws -> String
    {
        let now = Bench.nowSeconds
        var claims: [String: String?] = [
            "iss": #""\#(Self.email)""#, "aud": #""\#(Self.google)""#, "iat": "\(now)",
            "exp": "\(now + 3_600)",
            "scope": #""\#(Self.messaging)""#,
        ]
        claims.merge(changes) { $1 }
        let text = claims.sorted { $0.key < $1.key }.compactMap { name, value in
            value.map { #""\#(name)":\#($0)"# }
        }
        let signed =
            Base64URL.encode(Array(header.utf8)) + "."
            + Base64URL.encode(Array("{\(text.joined(separator: ","))}".utf8))
        let signature = try Self.openssl(["dgst", "-sha256", "-sign", privateKeyFile], input: signed)
        return signed + "." + Base64URL.encode(signature)
    }

    private static func openssl(_ arguments: [String], input: String = "") throws -> [UInt8] {
        let process = Process()
        let (stdin, stdout) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        (process.standardInput, process.standardOutput, process.standardError) = (
            stdin, stdout, FileHandle.nullDevice
        )
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return [UInt8](output)
    }
}

extension Bench {
    /// A bench whose first application names the shared account.
    static func withAccount(_ change: (inout Configuration.Application) -> Void = { _ in }) throws -> Bench {
        let file = try ServiceAccount.shared.get().publicKeyFile
        return try Bench(
            configuration {
                $0.serviceAccounts = [.init(clientEmail: ServiceAccount.email, publicKeyFile: file)]
                change(&$0)
            })
    }

    /// Posts a form to `/token`.
    func signIn(_ form: String) throws -> HTTPReply {
        try call(
            "POST", "/token", form,
            [("Host", "push.example:8080"), ("Content-Type", "application/x-www-form-urlencoded")])
    }

    /// Signs the shared account in.
    func accessToken() throws -> String {
        try signIn(try ServiceAccount.shared.get().form()).json?["access_token"]?.string ?? ""
    }
}
