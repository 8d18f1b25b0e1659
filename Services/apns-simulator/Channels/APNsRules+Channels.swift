import Crypto
import JSON

/// What a good request about channels asks for.
enum ChannelRequest: Equatable {
    /// A push to everyone who listens.
    case broadcast(channel: String, bundleID: String)
    case create(bundleID: String, isStored: Bool)
    case read(channel: String, bundleID: String)
    case delete(channel: String, bundleID: String)
    case list(bundleID: String)
}

/// The checks of broadcasts and of the calls about channels.
///
/// Reasons: Apple, Handling error responses from APNs. The order of the first steps is Apple's (authentication, then the
/// channel, then delivery: Sending broadcast push notification requests to APNs); the rest is an assumption.
extension APNsRules {
    private static let broadcastHead = "/4/broadcasts/apps/"
    private static let managementHead = "/1/apps/"

    /// Whether a path is that of a broadcast.
    static func isBroadcast(_ path: String) -> Bool { path.hasPrefix("/4/broadcasts") }

    /// Judges a broadcast.
    mutating func judgeBroadcast(
        _ request: APNsRequest, _ book: ChannelBook, on connection: inout ConnectionRecord,
        nowMilliseconds: Int64
    ) -> Result<ChannelRequest, Refusal> {
        guard request.method == "POST" else { return .failure(Refusal(reason: .methodNotAllowed)) }
        guard request.path.hasPrefix(Self.broadcastHead) else { return .failure(Refusal(reason: .badPath)) }
        let bundleID = String(request.path.dropFirst(Self.broadcastHead.count))
        do throws(Refusal) {
            try admit(request, bundleID, on: &connection, nowMilliseconds)
            let channel = try channel(request.headers, book, connection.environment, bundleID)
            try checkPush(request, isStored: channel.isStored)
            return .success(.broadcast(channel: channel.id, bundleID: bundleID))
        } catch {
            return .failure(error)
        }
    }

    /// Judges a call on the host that manages channels.
    mutating func judgeManagement(
        _ request: APNsRequest, _ book: ChannelBook, on connection: inout ConnectionRecord,
        nowMilliseconds: Int64
    ) -> Result<ChannelRequest, Refusal> {
        let parts = request.path.dropFirst(Self.managementHead.count).split(
            separator: "/", omittingEmptySubsequences: false)
        guard request.path.hasPrefix(Self.managementHead), parts.count == 2 else {
            return .failure(Refusal(reason: .badPath))
        }
        let bundleID = String(parts[0])
        do throws(Refusal) {
            try admit(request, bundleID, on: &connection, nowMilliseconds)
            switch (request.method, parts[1]) {
            case ("GET", "all-channels"): return .success(.list(bundleID: bundleID))
            case ("POST", "channels"): return .success(try creation(request, bundleID))
            case ("GET", "channels"):
                let channel = try channel(request.headers, book, connection.environment, bundleID)
                return .success(.read(channel: channel.id, bundleID: bundleID))
            case ("DELETE", "channels"):
                let channel = try channel(request.headers, book, connection.environment, bundleID)
                return .success(.delete(channel: channel.id, bundleID: bundleID))
            case (_, "channels"), (_, "all-channels"): throw Refusal(reason: .methodNotAllowed)
            default: throw Refusal(reason: .badPath)
            }
        } catch {
            return .failure(error)
        }
    }

    /// The credential, the app that it is for, and whether that app may broadcast.
    private mutating func admit(
        _ request: APNsRequest, _ bundleID: String, on connection: inout ConnectionRecord,
        _ nowMilliseconds: Int64
    ) throws(Refusal) {
        let token = try authenticate(request.headers, on: &connection, nowSeconds: nowMilliseconds / 1000)
            .get()
        let topic = PushTopic(bundleID)
        let isOfTeam = settings.bundleIDs.isEmpty || settings.bundleIDs.contains(topic.bundleID)
        let isOfKey = token.key.topics.map { $0.contains(topic.bundleID) } ?? true
        guard isOfTeam, isOfKey, !topic.bundleID.isEmpty else { throw Refusal(reason: .topicMismatch) }
        guard topic.bundleID == bundleID else { throw Refusal(reason: .topicDisallowed) }
        guard !settings.refusesBroadcasts else { throw Refusal(reason: .featureNotEnabled) }
        if let id = request.headers.requestID, !UUIDText.isCanonicalUUID(id) {
            throw Refusal(reason: .badMessageId)
        }
    }

    private func channel(
        _ headers: APNsHeaders, _ book: ChannelBook, _ environment: APNsEnvironment, _ bundleID: String
    ) throws(Refusal) -> ChannelBook.Channel {
        guard let id = headers.channelID, !id.isEmpty else { throw Refusal(reason: .missingChannelId) }
        guard Self.isBase64(id) else { throw Refusal(reason: .badChannelId) }
        guard let channel = book.channel(id, environment, bundleID) else {
            throw Refusal(reason: .channelNotRegistered)
        }
        return channel
    }

    private static func isBase64(_ text: String) -> Bool {
        text.utf8.count <= 256 && text.utf8.count % 4 == 0
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                    UInt8(ascii: "="):
                    true
                default: false
                }
            }
    }

    private func checkPush(_ request: APNsRequest, isStored: Bool) throws(Refusal) {
        guard let type = request.headers.pushType else { throw Refusal(reason: .missingPushType) }
        // Apple's pages write it in three ways.
        guard type.lowercased() == "liveactivity" else { throw Refusal(reason: .invalidPushType) }
        guard let priority = request.headers.priority, ["1", "5", "10"].contains(priority) else {
            throw Refusal(reason: .badPriority)
        }
        guard let text = request.headers.expiration, let expiration = Int64(text), expiration >= 0,
            isStored || expiration == 0
        else { throw Refusal(reason: .badExpirationDate) }
        if request.body.isEmpty { throw Refusal(reason: .payloadEmpty) }
        if request.body.count > settings.broadcastBytesMax { throw Refusal(reason: .payloadTooLarge) }
    }

    private func creation(_ request: APNsRequest, _ bundleID: String) throws(Refusal) -> ChannelRequest {
        if request.body.isEmpty { throw Refusal(reason: .payloadEmpty) }
        guard let document = try? JSONDocument(request.body), let members = document.root.members else {
            throw Refusal(reason: .badRequestPayload)
        }
        for (name, _) in members where name != "message-storage-policy" && name != "push-type" {
            throw Refusal(reason: .badRequestParams)
        }
        guard let policy = document.root["message-storage-policy"]?.int64, policy == 0 || policy == 1 else {
            throw Refusal(reason: .badRequestParams)
        }
        guard let type = document.root["push-type"]?.string else { throw Refusal(reason: .missingPushType) }
        guard type.lowercased() == "liveactivity" else { throw Refusal(reason: .invalidPushType) }
        return .create(bundleID: bundleID, isStored: policy == 1)
    }
}
