import Contracts
import Crypto
import Service
import Store

/// A call that its caller may repeat without effect.
struct RepeatableCall: Equatable {
    var application: String
    var path: String
    /// The value of `Idempotency-Key`.
    var key: String
    /// The SHA-256 of the body.
    var digest: [UInt8]
}

/// What was answered to a call that comes again.
struct KeptReply {
    var digest: [UInt8]
    var status: Int
    var body: [UInt8]
}

extension Ingest {
    static let keyHeader = "Idempotency-Key"
    static let keyBytesMax = 255

    /// Answers a call, or one with an `Idempotency-Key` as it was answered before.
    ///
    /// Only what was accepted is kept: what was refused changed nothing, and may be tried again.
    mutating func serveOnce(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        let known: RepeatableCall
        switch refusable({ () throws(Refusal) in try repeatable(call) }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(nil): return try serveAnew(call, at: now, in: journal)
        case .success(let found?): known = found
        }
        let since = now.wall - limits.idempotencyMilliseconds
        if let kept = try journal.reply(to: known, afterMilliseconds: since) {
            guard kept.digest == known.digest else {
                return .failure(
                    Refusal(
                        .unprocessable, Ingest.keyHeader, "came before with another body",
                        label: "idempotency")
                )
            }
            return .success(
                Served(
                    reply: HTTPReply(call, kept.status, json: kept.body), effects: [.count(Count("repeated"))]
                ))
        }
        guard !questions.isWaiting(known) else {
            return .failure(.busy("the same call is under way", retryAfterSeconds: 1))
        }
        let served = try serveAnew(call, at: now, in: journal)
        if case .success(let served) = served {
            if let reply = served.reply {
                try journal.keep(reply, to: known, atMilliseconds: now.wall)
            } else if call.path.last == "channels" {
                // Of what another service is asked only this changes something there.
                questions.keepReply(toCall: call.id, for: known)
            }
        }
        return served
    }

    /// What a repetition is known by; nil if the call has no key, or comes from nobody who may call.
    private func repeatable(_ call: HTTPCall) throws(Refusal) -> RepeatableCall? {
        guard call.method == "POST", let key = call.header(Ingest.keyHeader.lowercased()) else { return nil }
        guard (1...Ingest.keyBytesMax).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Refusal(
                Ingest.keyHeader, "must have 1 to \(Ingest.keyBytesMax) visible ASCII characters",
                label: "idempotency")
        }
        // Whoever may not call is refused when the call is served.
        guard case .success(let application?) = refusable({ () throws(Refusal) in try caller(call) }) else {
            return nil
        }
        return RepeatableCall(
            application: application, path: call.path.joined(separator: "/"), key: key,
            digest: SHA256.digest(call.body))
    }

    /// The application that a call is for, once its token has been checked.
    ///
    /// - Returns: nil for calls that are served anew each time: a repeated sign-in gets a token of its own.
    private func caller(_ call: HTTPCall) throws(Refusal) -> String? {
        switch try Operation.find(call) {
        case .registerDevice, .unregisterDevice, .registerUser, .setTags, .setActivityPushToStartToken,
            .setActivityToken:
            try PushwooshRequest(call.body).application(access, phone: call).code
        case .getTags: try PushwooshRequest(call.body).applicationOfEither(access, call).code
        case .startLiveActivity, .updateLiveActivity, .createFilter, .compileFilter, .listFilters,
            .deleteFilter:
            try PushwooshRequest(call.body).applicationOfAuth(access).code
        case .sendMessage: try access.application(project: call.path[2], of: call).code
        case .pause, .resume, .createChannel: try access.application(code: call.path[2], of: call).code
        case .listMessages, .signIn, .showMessage, .cancelMessage, .listDeliveries, .showActivity,
            .listChannels, .showChannel, .deleteChannel, .importDevices, .health, .readiness, .describe:
            nil
        }
    }
}

extension Journal {
    /// What was answered to a call with the same key since an instant.
    func reply(to call: RepeatableCall, afterMilliseconds since: Int64) throws(StoreError) -> KeptReply? {
        try database.first(
            """
            SELECT digest, status, body FROM replies
            WHERE application = ? AND path = ? AND key = ? AND answeredAt > ?
            """, .text(call.application), .text(call.path), .text(call.key), .int(since)
        ) { KeptReply(digest: $0.blob(0), status: Int($0.int(1)), body: $0.blob(2)) }
    }

    /// Keeps what is answered to a call.
    func keep(_ reply: HTTPReply, to call: RepeatableCall, atMilliseconds now: Int64) throws(StoreError) {
        try database.run(
            """
            INSERT OR REPLACE INTO replies (application, path, key, digest, status, body, answeredAt)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, .text(call.application), .text(call.path), .text(call.key), .blob(call.digest),
            .int(Int64(reply.status)), .blob(reply.body), .int(now))
    }
}
