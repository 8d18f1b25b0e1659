import Contracts
import JSON

/// One device of a bulk import.
struct ImportedDevice: Equatable {
    var hwid: String
    var profile: Profile
    var startTokens: [StartToken]
    var activityTokens: [ActivityToken]

    /// How many registrations it makes.
    var registrationCount: Int { 1 + startTokens.count + activityTokens.count }
}

/// Reads a line of a bulk import: what phones tell in several calls, under the rules of those calls.
///
/// Other than there, a member that is not known is refused: who imports wants to hear of a misspelt one.
struct ImportLine {
    private static let known: Set<String> = [
        "hwid", "push_token", "platform", "device_type", "environment", "gateway", "os_version", "language",
        "app_version", "device_model", "timezone", "user_id", "userId", "tags", "frequent_pushes",
        "registered_at", "push_to_start_tokens", "activity_tokens",
    ]
    private static let knownOfStartToken: Set<String> = ["token", "attributes_type", "registered_at"]
    private static let knownOfActivityToken: Set<String> = [
        "token", "live_activity_id", "activity_id", "registered_at",
    ]

    private let members: ObjectReader
    private let nowSeconds: Int64
    private let limits: IngestLimits
    /// When the app got the tokens that say nothing themselves.
    private let registeredAt: Int64?

    /// What a line tells.
    ///
    /// - Throws: `Refusal` that names the member.
    static func read(_ text: [UInt8]?, nowSeconds: Int64, _ limits: IngestLimits) throws(Refusal)
        -> ImportedDevice
    {
        guard let text, text.count <= limits.importLineBytesMax else {
            throw Refusal("", "a line has at most \(limits.importLineBytesMax) bytes", label: "size")
        }
        return try ImportLine(text, nowSeconds: nowSeconds, limits).device()
    }

    private init(_ text: [UInt8], nowSeconds: Int64, _ limits: IngestLimits) throws(Refusal) {
        members = try ObjectReader(body: text)
        self.nowSeconds = nowSeconds
        self.limits = limits
        registeredAt = try members.lenientSeconds("registered_at", nowSeconds: nowSeconds)
    }

    private func device() throws(Refusal) -> ImportedDevice {
        try members.refuseUnknown(known: ImportLine.known)
        let reader = PushwooshDevices(members: members, nowSeconds: nowSeconds)
        let device = ImportedDevice(
            hwid: try reader.hwid(), profile: try profile(reader),
            startTokens: try list("push_to_start_tokens", known: ImportLine.knownOfStartToken) {
                reader throws(Refusal) in try reader.startToken("token")
            },
            activityTokens: try list("activity_tokens", known: ImportLine.knownOfActivityToken) {
                reader throws(Refusal) in
                let id = try reader.members.either("live_activity_id", "activity_id")
                return try reader.activityToken("token", id: id ?? "activity_id")
            })
        let count = device.registrationCount - 1
        guard count <= limits.importTokensPerLineMax else {
            throw Refusal("", "a line has at most \(limits.importTokensPerLineMax) tokens", label: "size")
        }
        return device
    }

    private func profile(_ reader: PushwooshDevices) throws(Refusal) -> Profile {
        var profile = try reader.profile(
            environment: try members.either("environment", "gateway") ?? "gateway",
            user: try members.either("user_id", "userId") ?? "userId")
        if try members.either("platform", "device_type") == "platform" {
            // Only iOS shows Live Activities; 1 is its device type.
            guard let platform = members.value["platform"], platform.string?.uppercased() == "IOS" else {
                throw members.wrong("platform", "must be \"ios\"")
            }
            profile.deviceType = 1
        }
        return profile
    }

    private func list<Token: RegisteredToken>(
        _ name: String, known: Set<String>, _ read: (PushwooshDevices) throws(Refusal) -> Token
    ) throws(Refusal) -> [Token] {
        guard let value = members.lenient(name) else { return [] }
        guard let elements = value.elements else { throw ObjectReader.wrong(value, "must be a list") }
        var tokens: [Token] = []
        for element in elements {
            let members = try ObjectReader(element)
            try members.refuseUnknown(known: known)
            var token = try read(PushwooshDevices(members: members, nowSeconds: nowSeconds))
            token.registeredAtSeconds = token.registeredAtSeconds ?? registeredAt
            tokens.append(token)
        }
        return tokens
    }
}

/// A token with the time at which the app got it.
private protocol RegisteredToken {
    var registeredAtSeconds: Int64? { get set }
}

extension StartToken: RegisteredToken {}
extension ActivityToken: RegisteredToken {}

extension ObjectReader {
    /// Which of two spellings of a member is there; nil if none is.
    ///
    /// - Throws: `Refusal` if both are.
    fileprivate func either(_ first: String, _ second: String) throws(Refusal) -> String? {
        switch (lenient(first), lenient(second)) {
        case (nil, nil): nil
        case (_?, nil): first
        case (nil, _?): second
        default: throw wrong(first, "stands beside \(second), which says the same")
        }
    }
}
