import JSON

/// What the Pushwoosh door answers: HTTP 200 with the outcome in the body, also for what is refused.
///
/// Pushwoosh, Device API, status codes.
enum PushwooshAnswer {
    /// An answer to a call that was accepted.
    static func success(_ call: HTTPCall, _ response: JSONRaw?) -> HTTPReply {
        envelope(call, 200, code: 200, "OK", response)
    }

    /// An answer to a call that was refused.
    static func refusal(_ call: HTTPCall, _ refusal: Refusal) -> HTTPReply {
        switch refusal.kind {
        case .argument, .unauthenticated, .forbidden, .unregistered, .noPushKeys:
            envelope(call, 200, code: 210, refusal.text)
        case .notJSON: envelope(call, 400, code: 400, refusal.text)
        case .notFound: envelope(call, 404, code: 404, refusal.text)
        case .conflict: envelope(call, 409, code: 409, refusal.text)
        case .unprocessable: envelope(call, 422, code: 422, refusal.text)
        case .method(let allowed):
            envelope(call, 405, code: 405, refusal.text, headers: [.init(name: "Allow", value: allowed)])
        case .busy(let seconds):
            envelope(
                call, 503, code: 503, refusal.text,
                headers: [.init(name: "Retry-After", value: String(seconds))])
        }
    }

    private static func envelope(
        _ call: HTTPCall, _ status: Int, code: Int, _ message: String, _ response: JSONRaw? = nil,
        headers: [HTTPCall.Field] = []
    ) -> HTTPReply {
        let body = JSONWriter.object { answer in
            answer.member("status_code", code)
            answer.member("status_message", message)
            answer.member("response", response)
        }
        return HTTPReply(call, status, json: body, headers: headers)
    }
}

/// What the Firebase door answers: Google's error model.
///
/// Firebase, FCM HTTP v1 API, ErrorCode. Three of its codes are never said: SENDER_ID_MISMATCH, for which callers delete a
/// token, because no token is looked up in another project; QUOTA_EXCEEDED, because what is too much for now is
/// UNAVAILABLE; and INTERNAL, because nothing fails after a message was accepted.
enum FirebaseAnswer {
    /// The name of an accepted message.
    static func success(_ call: HTTPCall, name: String) -> HTTPReply {
        HTTPReply(call, 200, json: JSONWriter.object { $0.member("name", name) })
    }

    /// An answer to a call that was refused.
    static func refusal(_ call: HTTPCall, _ refusal: Refusal) -> HTTPReply {
        switch refusal.kind {
        case .argument, .notJSON:
            error(call, 400, "INVALID_ARGUMENT", refusal, detail: .badRequest)
        case .unauthenticated:
            error(
                call, 401, "UNAUTHENTICATED", refusal,
                headers: [.init(name: "WWW-Authenticate", value: "Bearer")])
        case .forbidden: error(call, 403, "PERMISSION_DENIED", refusal)
        case .notFound: error(call, 404, "NOT_FOUND", refusal)
        // Callers delete a token that is answered so: never for anything that may pass.
        case .unregistered: error(call, 404, "NOT_FOUND", refusal, detail: .fcm("UNREGISTERED"))
        case .conflict: error(call, 409, "ABORTED", refusal)
        case .unprocessable: error(call, 422, "INVALID_ARGUMENT", refusal, detail: .badRequest)
        case .noPushKeys: error(call, 401, "UNAUTHENTICATED", refusal, detail: .fcm("THIRD_PARTY_AUTH_ERROR"))
        case .method(let allowed):
            error(call, 405, "INVALID_ARGUMENT", refusal, headers: [.init(name: "Allow", value: allowed)])
        case .busy(let seconds):
            error(
                call, 503, "UNAVAILABLE", refusal, detail: .fcm("UNAVAILABLE"),
                headers: [.init(name: "Retry-After", value: String(seconds))])
        }
    }

    private enum Detail {
        case none
        case badRequest
        case fcm(String)
    }

    private static func error(
        _ call: HTTPCall, _ code: Int, _ status: String, _ refusal: Refusal, detail: Detail = .none,
        headers: [HTTPCall.Field] = []
    ) -> HTTPReply {
        let body = JSONWriter.object { answer in
            answer.object("error") { error in
                error.member("code", code)
                error.member("message", refusal.text)
                error.member("status", status)
                write(detail, refusal, to: &error)
            }
        }
        return HTTPReply(call, code, json: body, headers: headers)
    }

    private static func write(_ detail: Detail, _ refusal: Refusal, to error: inout JSONWriter) {
        switch detail {
        case .none: return
        case .fcm(let code):
            error.array("details") { details in
                details.object { detail in
                    detail.member("@type", "type.googleapis.com/google.firebase.fcm.v1.FcmError")
                    detail.member("errorCode", code)
                }
            }
        case .badRequest:
            error.array("details") { details in
                details.object { detail in
                    detail.member("@type", "type.googleapis.com/google.rpc.BadRequest")
                    detail.array("fieldViolations") { violations in
                        for violation in refusal.violations {
                            violations.object {
                                $0.member("field", violation.field)
                                $0.member("description", violation.problem)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What Liveline's own door answers.
enum OwnAnswer {
    /// An answer to a call that was refused.
    static func refusal(_ call: HTTPCall, _ refusal: Refusal) -> HTTPReply {
        let (status, headers): (Int, [HTTPCall.Field]) =
            switch refusal.kind {
            case .argument, .notJSON: (400, [])
            case .unauthenticated: (401, [.init(name: "WWW-Authenticate", value: "Bearer")])
            case .forbidden: (403, [])
            case .notFound, .unregistered: (404, [])
            case .conflict: (409, [])
            case .unprocessable: (422, [])
            case .noPushKeys: (400, [])
            case .method(let allowed): (405, [.init(name: "Allow", value: allowed)])
            case .busy(let seconds): (503, [.init(name: "Retry-After", value: String(seconds))])
            }
        return HTTPReply(
            call, status, json: JSONWriter.object { $0.member("error", refusal.text) }, headers: headers)
    }
}

extension Door {
    /// The door that a path belongs to.
    init(path: [String]) {
        if path.starts(with: ["json", "1.3"]) {
            self = .pushwoosh
        } else if path.starts(with: ["v1", "projects"]) {
            self = .firebase
        } else if path == ["token"] {
            self = .signIn
        } else {
            self = .own
        }
    }

    /// How this door says no.
    func refuse(_ call: HTTPCall, _ refusal: Refusal) -> HTTPReply {
        switch self {
        case .pushwoosh: PushwooshAnswer.refusal(call, refusal)
        case .firebase: FirebaseAnswer.refusal(call, refusal)
        case .own: OwnAnswer.refusal(call, refusal)
        case .signIn: SignInAnswer.refusal(call, refusal)
        }
    }

    /// What a call is answered whose transaction could not be committed: nothing of it is stored.
    static func storageFailure(_ call: HTTPCall, problem: String) -> HTTPReply {
        guard call.path != ["readyz"] else {
            return HTTPReply(call, 503, json: JSONWriter.object { $0.member("status", problem) })
        }
        return Door(path: call.path).refuse(call, .busy("\(problem); nothing was accepted"))
    }
}
