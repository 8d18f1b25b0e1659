/// The topic of a push: a bundle id and what it is extended with.
struct PushTopic: Equatable, Sendable {
    static let liveActivitySuffix = ".push-type.liveactivity"

    var bundleID: String
    var isLiveActivity: Bool
    var isVoIP: Bool

    /// - Parameter text: the value of `apns-topic`.
    init(_ text: String) {
        isLiveActivity = text.hasSuffix(Self.liveActivitySuffix)
        isVoIP = text.hasSuffix(".voip")
        let suffix = Self.suffixes.first { text.hasSuffix($0) }
        bundleID = String(text.utf8.dropLast(suffix?.utf8.count ?? 0)) ?? text
    }

    /// Suffixes that name a kind of push (Apple, Sending notification requests to APNs).
    private static let suffixes = [
        liveActivitySuffix, ".push-type.controls", ".push-type.widgets", ".pushkit.fileprovider",
        ".location-query", ".voip-ptt", ".voip", ".complication",
    ]
}

// MARK: - Topic, header values, body

extension APNsRules {
    private static let pushTypes: Set<String> = [
        "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location", "mdm",
        "pushtotalk", "voip", "widgets",
    ]

    private static let knownTopicsMax = 256

    mutating func topic(of headers: APNsHeaders, key: ProviderKeyEntry) -> Result<PushTopic, Refusal> {
        guard let text = headers.topic else { return .failure(Refusal(reason: .missingTopic)) }
        let known = knownTopics[text]
        let topic = known ?? PushTopic(text)
        if known == nil {
            if let reason = fault(text, topic) { return .failure(Refusal(reason: reason)) }
            if knownTopics.count >= Self.knownTopicsMax { knownTopics.removeAll() }
            knownTopics[text] = topic
        }
        if let topics = key.topics, !topics.contains(topic.bundleID) {
            return .failure(Refusal(reason: .topicDisallowed))
        }
        return .success(topic)
    }

    private func fault(_ text: String, _ topic: PushTopic) -> APNsReason? {
        if topic.bundleID.isEmpty || !text.utf8.allSatisfy(Self.isTopicByte) { return .badTopic }
        let isOfTeam = settings.bundleIDs.isEmpty || settings.bundleIDs.contains(topic.bundleID)
        return isOfTeam ? nil : .topicDisallowed
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    func valueFault(_ headers: APNsHeaders, _ topic: PushTopic) -> APNsReason? {
        if let type = headers.pushType, !Self.pushTypes.contains(type) { return .invalidPushType }
        return mismatch(headers.pushType, topic) ?? priorityFault(headers) ?? expirationFault(headers)
            ?? collapseFault(headers)
    }

    private func mismatch(_ type: String?, _ topic: PushTopic) -> APNsReason? {
        guard !settings.toleratesPushTypeMismatch else { return nil }
        let isLiveActivity = type == "liveactivity"
        if isLiveActivity && !topic.isLiveActivity { return .invalidPushType }
        return topic.isLiveActivity && !isLiveActivity ? .topicDisallowed : nil
    }

    private func priorityFault(_ headers: APNsHeaders) -> APNsReason? {
        switch headers.priority {
        case "5": nil
        // Apple calls priority 10, the default, an error for background pushes but does not name the reason.
        case nil, "10": headers.pushType == "background" && headers.priority != nil ? .badPriority : nil
        case "1": settings.refusesLowPriority && headers.pushType == "liveactivity" ? .badPriority : nil
        default: .badPriority
        }
    }

    private func expirationFault(_ headers: APNsHeaders) -> APNsReason? {
        guard let text = headers.expiration else { return nil }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber && Int64(text) != nil ? nil : .badExpirationDate
    }

    private func collapseFault(_ headers: APNsHeaders) -> APNsReason? {
        (headers.collapseID?.utf8.count ?? 0) > 64 ? .badCollapseId : nil
    }

    func bodyFault(_ body: [UInt8], _ topic: PushTopic) -> APNsReason? {
        if body.isEmpty { return .payloadEmpty }
        let limit = topic.isVoIP ? settings.payloadBytesMax + 1024 : settings.payloadBytesMax
        return body.count > limit ? .payloadTooLarge : nil
    }
}
