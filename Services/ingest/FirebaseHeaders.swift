import Contracts
import Crypto
import JSON
import Service

/// The `headers` that a caller wants on the request to APNs.
///
/// Apple, Sending notification requests to APNs. Names are taken in any letter case, each once; those that are not known
/// are refused, since nothing of the caller's own reaches the wire as a header.
struct FirebaseHeaders: Equatable {
    /// `apns-priority`: 5 or 10.
    var priority: Int?
    /// `apns-expiration`, seconds since 1970; 0 is one attempt.
    var expirationSeconds: Int64?
    /// `apns-id`, in lower case.
    var id: String?
    /// `apns-collapse-id`.
    var collapseID: String?

    /// The longest collapse id, in bytes.
    static let collapseIDBytesMax = 64
    /// How long an expiration may be over, for clocks that differ, in seconds.
    static let pastSecondsMax: Int64 = 300

    /// Reads and checks them all, so that one answer names every wrong one.
    init(_ value: JSONValue?, _ application: Configuration.Application, nowSeconds: Int64) throws(Refusal) {
        guard let value else { return }
        guard let members = value.members else { throw ObjectReader.wrong(value, "must be an object") }
        var violations: [Refusal.Violation] = []
        var names: [String: Int] = [:]
        for (name, _) in members { names[name.lowercased(), default: 0] += 1 }
        for (name, value) in members {
            let key = name.lowercased()
            let problem =
                names[key, default: 0] > 1
                ? "given more than once in different spellings" : take(key, value, application, nowSeconds)
            guard let problem else { continue }
            violations.append(Refusal.Violation(field: ObjectReader.name(value.path), problem: problem))
        }
        guard violations.isEmpty else { throw Refusal(.argument, violations, label: "headers") }
    }

    /// Takes one header; says what is wrong with it, or nil.
    private mutating func take(
        _ name: String, _ value: JSONValue, _ application: Configuration.Application, _ nowSeconds: Int64
    ) -> String? {
        guard FirebaseHeaders.known.contains(name) else { return "not a header that may be given" }
        guard let text = value.string else { return "must be a string" }
        switch name {
        case "apns-priority":
            guard text == "5" || text == "10" else { return "must be \"5\" or \"10\"" }
            priority = Int(text)
        case "apns-expiration": return takeExpiration(text, nowSeconds)
        case "apns-id":
            guard UUIDText.isCanonicalUUID(text) else { return "must be a UUID" }
            id = text.lowercased()
        case "apns-collapse-id": return takeCollapseID(text)
        case "apns-push-type":
            guard text == PushType.liveActivity.rawValue else { return "must be \"liveactivity\"" }
        default:
            let topic = application.bundleID + ".push-type.liveactivity"
            guard text == topic else { return "must be the Live Activity topic of this project's app" }
        }
        return nil
    }

    static let known: Set<String> = [
        "apns-priority", "apns-expiration", "apns-id", "apns-collapse-id", "apns-push-type", "apns-topic",
    ]

    private mutating func takeExpiration(_ text: String, _ nowSeconds: Int64) -> String? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let seconds = Int64(text)
        else { return "must be whole seconds since 1970, or \"0\"" }
        guard seconds < Seconds.secondsEnd else { return "must be seconds since 1970, not milliseconds" }
        // A number of seconds from now on would be taken for a day in 1970, and the push would never go out.
        guard seconds == 0 || seconds >= nowSeconds - FirebaseHeaders.pastSecondsMax else {
            return "must not lie in the past; it is seconds since 1970, or \"0\" for one attempt"
        }
        expirationSeconds = seconds
        return nil
    }

    private mutating func takeCollapseID(_ text: String) -> String? {
        guard (1...FirebaseHeaders.collapseIDBytesMax).contains(text.utf8.count) else {
            return "must have 1 to \(FirebaseHeaders.collapseIDBytesMax) bytes"
        }
        // A field value that HTTP/2 forbids would end the connection for all (RFC 9113, section 8.2.1), and no document
        // says what APNs makes of one that is not ASCII.
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), text.utf8.first != 0x20,
            text.utf8.last != 0x20
        else { return "must be visible ASCII, without a space at its beginning or end" }
        collapseID = text
        return nil
    }
}
