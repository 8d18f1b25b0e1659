import Crypto
import JSON
import Service

/// Checks the assertion with which a service account signs in.
///
/// Google, Using OAuth 2.0 for Server to Server Applications: a JSON Web Token signed with RS256, posted as a form (RFC
/// 7523). The label of a refusal is the error of RFC 6749, section 5.2.
struct SignIn {
    /// How far the caller's clock may be off, in seconds.
    static let skewSeconds: Int64 = 300
    /// The longest an assertion may hold, in seconds.
    static let lifeSecondsMax: Int64 = 3_600
    /// The largest form, in bytes.
    static let bodyBytesMax = 16_384

    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let scopes = ["firebase.messaging", "cloud-platform"].map {
        "https://www.googleapis.com/auth/\($0)"
    }
    // Google's libraries say the first one wherever the caller's `token_uri` points; older ones said the others.
    private static let audiences: Set<String> = [
        "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
        "https://accounts.google.com/o/oauth2/token",
    ]

    let accounts: SignInAccounts
    let nowSeconds: Int64

    /// The account whose assertion a call holds.
    ///
    /// - Throws: `Refusal` with the reason.
    func account(_ call: HTTPCall) throws(Refusal) -> SignInAccounts.Account {
        guard call.body.count <= SignIn.bodyBytesMax else {
            throw SignIn.request("the form has more than \(SignIn.bodyBytesMax) bytes")
        }
        guard let form = FormBody(call.body) else {
            throw SignIn.request("the body must be a form, with each name once")
        }
        guard let grant = form["grant_type"] else { throw SignIn.request("grant_type: missing") }
        guard grant == SignIn.grantType else {
            throw Refusal(
                "grant_type", "must be \(SignIn.grantType)", label: "unsupported_grant_type")
        }
        guard let text = form["assertion"] else { throw SignIn.request("assertion: missing") }
        guard let assertion = Assertion(text) else {
            throw SignIn.grant("the assertion is no JSON Web Token signed with RS256")
        }
        let account = try issuer(assertion)
        try checkTimes(assertion.claims)
        try checkAudience(assertion.claims, host: call.header("host"))
        try checkScope(assertion.claims)
        return account
    }

    private func issuer(_ assertion: Assertion) throws(Refusal) -> SignInAccounts.Account {
        let email = assertion.claims["iss"]?.string
        let known = accounts.accounts.filter { $0.email == email }
        guard !known.isEmpty else { throw SignIn.grant("iss: no such service account") }
        guard let account = known.first(where: { assertion.isSigned(with: $0.key) }) else {
            throw SignIn.grant("the signature is not this service account's")
        }
        guard assertion.claims["sub"].map({ $0.string == email }) ?? true else {
            throw SignIn.grant("sub: a service account signs in for itself only")
        }
        return account
    }

    private func checkTimes(_ claims: JSONValue) throws(Refusal) {
        guard let issued = SignIn.seconds(claims["iat"]), let end = SignIn.seconds(claims["exp"]) else {
            throw SignIn.grant("iat and exp: must be seconds since 1970")
        }
        guard issued <= nowSeconds + SignIn.skewSeconds else {
            throw SignIn.grant("iat: lies ahead; is the clock right?")
        }
        guard end > nowSeconds - SignIn.skewSeconds else {
            throw SignIn.grant("exp: is over; is the clock right?")
        }
        guard end > issued, end - issued <= SignIn.lifeSecondsMax else {
            throw SignIn.grant("exp: must lie at most an hour after iat")
        }
    }

    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard let seconds = value?.double, (0..<Double(Seconds.secondsEnd)).contains(seconds) else {
            return nil
        }
        return Int64(seconds)
    }

    private func checkAudience(_ claims: JSONValue, host: String?) throws(Refusal) {
        guard let audience = claims["aud"]?.string else { throw SignIn.grant("aud: missing") }
        // Others name the address that they post to: ours, as they know it, whatever stands in front of this server.
        let own = host.map { ["http://\($0)/token", "https://\($0)/token"] } ?? []
        guard SignIn.audiences.contains(audience) || own.contains(audience) else {
            throw SignIn.grant("aud: neither Google's token address nor this one")
        }
    }

    private func checkScope(_ claims: JSONValue) throws(Refusal) {
        let asked = (claims["scope"]?.string ?? "").split(separator: " ").map(String.init)
        guard asked.contains(where: SignIn.scopes.contains) else {
            throw Refusal(
                "scope", "must hold one of \(SignIn.scopes.joined(separator: ", "))", label: "invalid_scope")
        }
    }

    private static func request(_ problem: String) -> Refusal {
        Refusal("", problem, label: "invalid_request")
    }

    private static func grant(_ problem: String) -> Refusal { Refusal("", problem, label: "invalid_grant") }
}

/// A JSON Web Token signed with RS256, taken apart but not believed.
struct Assertion {
    /// What it says.
    let claims: JSONValue
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Takes it apart; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Assertion.object(parts[0]),
            let claims = Assertion.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"]?.string == "RS256"
        else { return nil }
        // What must be understood and is not ends it (RFC 7515, section 4.1.11).
        guard header["crit"] == nil else { return nil }
        self.claims = claims
        self.signature = signature
        signed = Array(text.utf8.dropLast(parts[2].utf8.count + 1))
    }

    /// Whether the private part of a key has signed it.
    func isSigned(with key: [UInt8]) -> Bool {
        (try? VerifyingKey(pem: key, algorithm: .rs256))?.verify(signature, over: signed) ?? false
    }

    private static func object(_ part: Substring) -> JSONValue? {
        guard let bytes = Base64URL.decode(part), let document = try? JSONDocument(bytes),
            document.root.kind == .object
        else { return nil }
        return document.root
    }
}
