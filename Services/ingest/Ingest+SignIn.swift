import Contracts
import JSON
import Service

extension Ingest {
    /// Serves `POST /token`, where service accounts sign in.
    func serveSignIn(_ call: HTTPCall, at now: Moment, in journal: Journal) -> Result<Served, Refusal> {
        let signIn = SignIn(accounts: access.accounts, nowSeconds: now.wallSeconds)
        return refusable { () throws(Refusal) in try signIn.account(call) }.map { account in
            let token = AccessTokens(secret: journal.tokenSecret).issue(
                to: account, nowSeconds: now.wallSeconds)
            return Served(
                reply: SignInAnswer.success(call, token: token),
                effects: [.count(Count("accepted", [("door", Door.signIn.rawValue), ("kind", "token")]))])
        }
    }

    /// A call that knows which applications the token in it was issued for.
    func recognized(_ call: HTTPCall, at now: Moment, in journal: Journal) -> HTTPCall {
        guard let token = call.credential("Bearer"),
            let account = AccessTokens(secret: journal.tokenSecret).account(
                of: token, in: access.accounts, nowSeconds: now.wallSeconds)
        else { return call }
        var call = call
        call.signedInto = account.applications
        return call
    }
}

/// What who signs in is answered (RFC 6749, sections 5.1 and 5.2).
enum SignInAnswer {
    // No cache may keep what is said here.
    private static let headers = [HTTPCall.Field(name: "Cache-Control", value: "no-store")]

    /// A token.
    static func success(_ call: HTTPCall, token: String) -> HTTPReply {
        let body = JSONWriter.object { answer in
            answer.member("access_token", token)
            answer.member("expires_in", AccessTokens.lifeSeconds)
            answer.member("token_type", "Bearer")
        }
        return HTTPReply(call, 200, json: body, headers: headers)
    }

    /// An answer to a call that was refused.
    static func refusal(_ call: HTTPCall, _ refusal: Refusal) -> HTTPReply {
        switch refusal.kind {
        case .method(let allowed):
            error(call, 405, "invalid_request", refusal, [.init(name: "Allow", value: allowed)])
        case .busy(let seconds):
            error(
                call, 503, "temporarily_unavailable", refusal,
                [.init(name: "Retry-After", value: String(seconds))])
        default: error(call, 400, refusal.label, refusal)
        }
    }

    private static func error(
        _ call: HTTPCall, _ status: Int, _ error: String, _ refusal: Refusal, _ more: [HTTPCall.Field] = []
    ) -> HTTPReply {
        let body = JSONWriter.object { answer in
            answer.member("error", error)
            answer.member("error_description", refusal.text)
        }
        return HTTPReply(call, status, json: body, headers: headers + more)
    }
}
