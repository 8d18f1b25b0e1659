import JSON

/// A provider token as it stands in its file.
struct StoredToken: Equatable, Sendable {
    /// The JSON Web Token; a secret.
    var text: String
    /// Its `iat`.
    var issuedAtSeconds: Int64
    /// Whether it took the place of one that APNs called expired.
    var isReplacement: Bool
    /// Which key signed it.
    var keyDigest: String

    /// Younger than this, a token is used by everyone who reads it, in seconds.
    ///
    /// APNs takes a token for an hour (Apple, Establishing a token-based connection to APNs); ten minutes are left for
    /// clocks that differ and for pushes that wait.
    static let freshSeconds: Int64 = 3_000
    /// How long a replacement stays, in seconds: Apple wants no new token more often than each 20 minutes.
    static let replacementSeconds: Int64 = 1_200
    /// How far ahead of the clock a token may have been issued, in seconds; more, and the clock was set back.
    static let aheadSeconds: Int64 = 60

    /// What is to be done about a token.
    enum Advice: Equatable {
        case use
        case make(isReplacement: Bool)
        /// APNs refuses it, and it is too early for another.
        case keepThoughRefused
    }

    /// What is to be done about a token that may be there.
    ///
    /// - Parameters:
    ///   - stored: what the file holds.
    ///   - keyDigest: the key in use; a token of another is none.
    ///   - refused: a token that APNs called expired, if that is why one asks.
    ///   - now: seconds since 1970.
    /// - Returns: what to do before it is used.
    static func advice(
        _ stored: StoredToken?, keyDigest: String, refused: String?, nowSeconds now: Int64
    ) -> Advice {
        guard let stored, stored.keyDigest == keyDigest else { return .make(isReplacement: false) }
        let age = now - stored.issuedAtSeconds
        if stored.text == refused {
            let isTooEarly = stored.isReplacement && age >= 0 && age < replacementSeconds
            return isTooEarly ? .keepThoughRefused : .make(isReplacement: true)
        }
        if age < -aheadSeconds { return .make(isReplacement: true) }
        return age < freshSeconds ? .use : .make(isReplacement: false)
    }

    /// Whether it needs no second look at the file.
    func isFresh(nowSeconds now: Int64) -> Bool {
        (-Self.aheadSeconds..<Self.freshSeconds).contains(now - issuedAtSeconds)
    }
}

extension StoredToken {
    /// The file's content.
    var fileText: String {
        let bytes = JSONWriter.object { file in
            file.member("token", text)
            file.member("issuedAtSeconds", issuedAtSeconds)
            file.member("isReplacement", isReplacement)
            file.member("keyDigest", keyDigest)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a file's content; nil for anything that is not one.
    init?(file bytes: [UInt8]) {
        guard let root = try? JSONDocument(bytes).root, let text = root["token"]?.string, !text.isEmpty,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let issuedAt = root["issuedAtSeconds"]?.int64, (0...(1 << 40)).contains(issuedAt),
            let isReplacement = root["isReplacement"]?.bool, let digest = root["keyDigest"]?.string
        else { return nil }
        self.init(
            text: text, issuedAtSeconds: issuedAt, isReplacement: isReplacement, keyDigest: digest)
    }
}
