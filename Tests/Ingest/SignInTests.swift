import JSON
import Service
import Testing

@testable import ingest

@Suite struct SignInTests {
    @Test func `a service account gets a token for an hour`() throws {
        let bench = try Bench.withAccount()
        let reply = try bench.signIn(try ServiceAccount.shared.get().form())
        #expect(reply.status == 200)
        #expect(reply.json?["expires_in"]?.int64 == 3_600)
        #expect(reply.json?["token_type"]?.string == "Bearer")
        #expect(reply.header("Cache-Control") == "no-store")
        #expect(
            try bench.fcm(Bench.fcmUpdate, token: reply.json?["access_token"]?.string ?? "").status == 200)
    }

    @Test func `the token is good for the own door too, and for no other application`() throws {
        let bench = try Bench.withAccount()
        let token = try bench.accessToken()
        let name = try bench.fcm(Bench.fcmUpdate, token: token).json?["name"]?.string ?? ""
        let code = name.split(separator: "/").last.map(String.init) ?? ""
        #expect(
            try bench.call("GET", "/v1/messages/\(code)", "", [("Authorization", "Bearer \(token)")]).status
                == 200)
        let other = try bench.fcm(Bench.fcmUpdate, token: token, project: "other")
        #expect(other.status == 403)
        #expect(other.errorStatus == "PERMISSION_DENIED")
        #expect(try bench.notify("updateLiveActivity", Bench.update, auth: token).code == 210)
    }

    @Test func `the token outlives a restart and ends after its hour`() throws {
        let bench = try Bench.withAccount()
        let token = try bench.accessToken()
        try bench.restart()
        bench.advance(seconds: 3_599)
        #expect(try bench.fcm(Bench.fcmUpdate, token: token).status == 200)
        bench.advance(seconds: 1)
        let reply = try bench.fcm(Bench.fcmUpdate, token: token)
        #expect(reply.status == 401)
        #expect(reply.errorStatus == "UNAUTHENTICATED")
    }

    @Test func `an account taken out, or with another key, has no token any more`() throws {
        let bench = try Bench.withAccount()
        let token = try bench.accessToken()
        let stranger = try ServiceAccount.stranger.get().publicKeyFile
        for accounts in [
            [], [Configuration.ServiceAccount(clientEmail: ServiceAccount.email, publicKeyFile: stranger)],
        ] {
            bench.core.reload(Bench.configuration { $0.serviceAccounts = accounts })
            #expect(try bench.fcm(Bench.fcmUpdate, token: token).status == 401)
        }
        bench.core.reload(try Bench.withAccount().configuration)
        #expect(try bench.fcm(Bench.fcmUpdate, token: token).status == 200)
    }

    @Test func `no changed token is taken, and none of another journal`() throws {
        let bench = try Bench.withAccount()
        let token = try bench.accessToken()
        for place in token.indices {
            var changed = token
            changed.replaceSubrange(place...place, with: token[place] == "A" ? "B" : "A")
            #expect(try bench.fcm(Bench.fcmUpdate, token: changed).status == 401)
        }
        #expect(try bench.fcm(Bench.fcmUpdate, token: String(token.dropLast())).status == 401)
        let tokens = AccessTokens(secret: [UInt8](repeating: 7, count: 32))
        let account = try #require(bench.core.access.accounts.accounts.first)
        let foreign = tokens.issue(to: account, nowSeconds: Bench.nowSeconds)
        #expect(
            tokens.account(of: foreign, in: bench.core.access.accounts, nowSeconds: Bench.nowSeconds)
                == account)
        #expect(try bench.fcm(Bench.fcmUpdate, token: foreign).status == 401)
    }

    @Test func `an account of two applications calls for both`() throws {
        var configuration = try Bench.withAccount().configuration
        configuration.applications[1].serviceAccounts = configuration.applications[0].serviceAccounts
        configuration.applications[1].keys = configuration.applications[0].keys
        let bench = try Bench(configuration)
        let token = try bench.accessToken()
        #expect(try bench.fcm(Bench.fcmUpdate, token: token).status == 200)
        #expect(try bench.fcm(Bench.fcmUpdate, token: token, project: "other").status == 200)
    }

    @Test(arguments: [
        #""https://oauth2.googleapis.com/token""#, #""https://www.googleapis.com/oauth2/v4/token""#,
        #""http://push.example:8080/token""#, #""https://push.example:8080/token""#,
    ])
    func `Google's audience and our own are taken`(_ audience: String) throws {
        let form = try ServiceAccount.shared.get().form(["aud": audience])
        #expect(try Bench.withAccount().signIn(form).status == 200)
    }

    static let now = Bench.nowSeconds

    @Test(
        arguments: [
            (["iss": #""other@demo.example""#], "iss: no such service account"),
            (["iss": nil], "iss: no such service account"), (["iss": "7"], "iss: no such service account"),
            (["sub": #""boss@demo.example""#], "sub: a service account signs in for itself only"),
            (
                ["aud": #""https://pubsub.googleapis.com/""#],
                "aud: neither Google's token address nor this one"
            ),
            (["aud": nil], "aud: missing"), (["aud": "[]"], "aud: missing"),
            (["iat": nil], "iat and exp: must be seconds since 1970"),
            (["exp": "1e400"], "iat and exp: must be seconds since 1970"),
            (["exp": #""soon""#], "iat and exp: must be seconds since 1970"),
            (["iat": "\(now + 301)", "exp": "\(now + 900)"], "iat: lies ahead; is the clock right?"),
            (["iat": "\(now - 3_900)", "exp": "\(now - 300)"], "exp: is over; is the clock right?"),
            (["exp": "\(now + 3_601)"], "exp: must lie at most an hour after iat"),
            (["exp": "\(now)"], "exp: must lie at most an hour after iat"),
        ] as [([String: String?], String)])
    func `a wrong claim is an invalid grant`(_ claims: [String: String?], _ problem: String) throws {
        let reply = try Bench.withAccount().signIn(try ServiceAccount.shared.get().form(claims))
        #expect(reply.status == 400)
        #expect(reply.json?["error"]?.string == "invalid_grant")
        #expect(reply.json?["error_description"]?.string == problem)
    }

    @Test(arguments: [nil, #""""#, #""https://www.googleapis.com/auth/devstorage.read_write""#] as [String?])
    func `a scope without messaging is refused`(_ scope: String?) throws {
        let reply = try Bench.withAccount().signIn(try ServiceAccount.shared.get().form(["scope": scope]))
        #expect(reply.status == 400)
        #expect(reply.json?["error"]?.string == "invalid_scope")
    }

    @Test func `the scopes that the SDKs ask for are enough`() throws {
        let scopes = ["datastore", "cloud-platform", "firebase"].map {
            "https://www.googleapis.com/auth/\($0)"
        }
        let form = try ServiceAccount.shared.get().form(["scope": #""\#(scopes.joined(separator: " "))""#])
        #expect(try Bench.withAccount().signIn(form).status == 200)
    }

    @Test func `clocks may differ by five minutes`() throws {
        let account = try ServiceAccount.shared.get()
        let bench = try Bench.withAccount()
        for seconds in [Int64(-3_899), 300] {
            let issued = Bench.nowSeconds + seconds
            #expect(
                try bench.signIn(try account.form(["iat": "\(issued)", "exp": "\(issued + 3_600)"])).status
                    == 200)
        }
    }

    @Test func `another's signature, a changed claim and another algorithm are refused`() throws {
        let bench = try Bench.withAccount()
        let account = try ServiceAccount.shared.get()
        let parts = try account.assertion().split(separator: ".").map(String.init)
        let other = try account.assertion(["x": "1"]).split(separator: ".").map(String.init)
        let unsigned = "The signature is not this service account's".lowercased()
        let malformed = "the assertion is no JSON Web Token signed with RS256"
        let cases = [
            (try ServiceAccount.stranger.get().assertion(), unsigned),
            ("\(parts[0]).\(other[1]).\(parts[2])", unsigned),
            ("\(parts[0]).\(parts[1]).", unsigned), ("\(parts[0]).\(parts[1])", malformed),
            ("a.b.c", malformed),
            (try account.assertion(header: #"{"alg":"none"}"#), malformed),
            (try account.assertion(header: #"{"alg":"HS256"}"#), malformed),
            (try account.assertion(header: #"{"alg":"RS256","crit":["x"]}"#), malformed),
        ]
        for (assertion, problem) in cases {
            let reply = try bench.signIn(ServiceAccount.form(assertion: assertion))
            #expect(reply.json?["error"]?.string == "invalid_grant")
            #expect(reply.json?["error_description"]?.string == problem)
        }
    }

    @Test(arguments: [
        ("", "invalid_request", "grant_type: missing"),
        ("grant_type=refresh_token", "unsupported_grant_type", "grant_type: must be \(ServiceAccount.grant)"),
        ("grant_type=\(ServiceAccount.grant)", "invalid_request", "assertion: missing"),
        ("assertion=a&assertion=b", "invalid_request", "the body must be a form, with each name once"),
        ("assertion=%zz", "invalid_request", "the body must be a form, with each name once"),
        ("assertion=%ff", "invalid_request", "the body must be a form, with each name once"),
        (String(repeating: "a", count: 16_385), "invalid_request", "the form has more than 16384 bytes"),
    ])
    func `what is no sign-in is told so`(_ form: String, _ error: String, _ problem: String) throws {
        let bench = try Bench.withAccount()
        let reply = try bench.signIn(form)
        #expect(reply.status == 400)
        #expect(reply.json?["error"]?.string == error)
        #expect(reply.json?["error_description"]?.string == problem)
        #expect(bench.counts.last?.labels.map(\.value) == ["sign-in", error])
    }

    @Test func `only POST signs in`() throws {
        let reply = try Bench.withAccount().call("GET", "/token")
        #expect(reply.status == 405)
        #expect(reply.header("Allow") == "POST")
    }

    @Test func `a key that cannot be read lets nobody in and stops the start`() throws {
        let configuration = Bench.configuration {
            $0.serviceAccounts = [.init(clientEmail: ServiceAccount.email, publicKeyFile: "/nowhere.pem")]
        }
        let reply = try Bench(configuration).signIn(try ServiceAccount.shared.get().form())
        #expect(reply.json?["error_description"]?.string == "iss: no such service account")
        let failure = #expect(throws: ServiceFailure.self) { try SignInAccounts.check(configuration) }
        #expect(failure?.code == .configuration)
        #expect(failure?.problem.hasPrefix("AAAAA-00001: key file /nowhere.pem cannot be read") == true)
    }
}
