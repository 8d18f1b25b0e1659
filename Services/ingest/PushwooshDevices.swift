import Contracts
import JSON

/// Reads the calls that phones make at the Pushwoosh door, as the vendor's SDK sends them.
///
/// Unknown members are let pass: newer SDKs send more than is known here. `null` stands for a member that is missing.
struct PushwooshDevices {
    let members: ObjectReader
    let nowSeconds: Int64

    /// The hardware id of the device that calls.
    func hwid() throws(Refusal) -> String { try members.requiredText("hwid") }

    /// What `registerDevice` tells; the members that name APNs' environment and the user have other names elsewhere.
    func profile(environment gateway: String = "gateway", user: String = "userId") throws(Refusal)
        -> Profile
    {
        var profile = Profile()
        profile.deviceType = try integer("device_type")
        profile.pushToken = try pushToken(deviceType: profile.deviceType)
        profile.environment = try environment(gateway)
        profile.osVersion = try members.lenientText("os_version")
        profile.language = try members.lenientText("language")
        profile.appVersion = try members.lenientText("app_version")
        profile.deviceModel = try members.lenientText("device_model")
        profile.timezoneSeconds = try integer("timezone")
        profile.user = try members.lenientText(user)
        profile.frequentPushes = try truth("frequent_pushes")
        // It orders tokens of activities only; one of a wrong type is a mistake of the app all the same.
        if let instant = members.lenient("registered_at") { _ = try Seconds.any(instant) }
        if let tags = members.lenient("tags") { profile.tags = try PushwooshTags.changes(tags) }
        return profile
    }

    /// What `setTags` tells.
    func tags() throws(Refusal) -> [String: TagChange] {
        try PushwooshTags.changes(try members.required("tags"))
    }

    /// Whom `registerUser` ties the device to.
    func user() throws(Refusal) -> String { try members.requiredText("userId") }

    /// What `setActivityPushToStartToken` tells; an empty token takes the token back.
    func startToken(_ member: String = "activity_push_to_start_token") throws(Refusal) -> StartToken {
        let value = try members.required(member)
        let type = members.lenient("attributes_type")
        return StartToken(
            token: value.string == "" ? "" : try DeviceToken.read(value),
            attributesType: try type.map { value throws(Refusal) in try Texts.text(value) },
            registeredAtSeconds: try registeredAt())
    }

    /// What `setActivityToken` tells; the run is decided by who knows the activities.
    ///
    /// The activity's id may be empty: apps that use the SDK's old calls have none.
    func activityToken(_ member: String = "activity_token", id: String = "activity_id") throws(Refusal)
        -> ActivityToken
    {
        let value = try members.required(member)
        let token = value.string == "" ? "" : try DeviceToken.read(value)
        let id = try members.required(id)
        let activity = id.string == "" ? "" : try Texts.text(id)
        return ActivityToken(
            token: token, activity: activity, run: 0, registeredAtSeconds: try registeredAt())
    }

    private func registeredAt() throws(Refusal) -> Int64? {
        try members.lenientSeconds("registered_at", nowSeconds: nowSeconds)
    }

    private func pushToken(deviceType: Int?) throws(Refusal) -> String? {
        guard let value = members.lenient("push_token"), value.string != "" else { return nil }
        // Only Apple's tokens are hex, and only to them anything is ever sent.
        guard deviceType ?? 1 == 1 else { return nil }
        return try DeviceToken.read(value)
    }

    private func environment(_ member: String) throws(Refusal) -> APNsEnvironment? {
        guard let value = members.lenient(member) else { return nil }
        return try PushwooshDevices.environment(value)
    }

    /// One of APNs' environments by its name.
    static func environment(_ value: JSONValue) throws(Refusal) -> APNsEnvironment {
        guard let environment = value.string.flatMap(APNsEnvironment.init(rawValue:)) else {
            throw ObjectReader.wrong(value, "must be one of \"production\", \"sandbox\"", label: "gateway")
        }
        return environment
    }

    /// An integer, which the SDK sends as a string in places.
    private func integer(_ member: String) throws(Refusal) -> Int? {
        guard let value = members.lenient(member), value.string != "" else { return nil }
        let number = value.int64 ?? value.string.flatMap { Int64($0) }
        guard let number, let result = Int(exactly: number) else {
            throw ObjectReader.wrong(value, "must be an integer")
        }
        return result
    }

    private func truth(_ member: String) throws(Refusal) -> Bool? {
        guard let value = members.lenient(member) else { return nil }
        if let truth = value.bool { return truth }
        switch value.int64 {
        case 0: return false
        case 1: return true
        default: throw ObjectReader.wrong(value, "must be true or false")
        }
    }
}
