import Contracts
import Service

/// Makes the requests of one group of pushes.
struct RequestWriter {
    let application: String
    /// `apns-expiration` of them all.
    let expirationSeconds: Int64
    private let settings: GatewaySettings.Application?
    private var renderer: PayloadRenderer
    private var groups: [RequestGroup] = []

    /// Writes what the pushes share; `settings` is nil for an application that is not configured.
    init(_ pushes: Pushes, _ settings: GatewaySettings.Application?) {
        application = pushes.application
        expirationSeconds = pushes.notification.expirationSeconds
        collapseID = pushes.notification.collapseID
        self.settings = settings
        renderer = PayloadRenderer(pushes.notification, pushes.payload)
    }

    private let collapseID: String?

    /// Whether nothing may be sent any more; an expiration of 0 allows its one attempt at any time.
    func isExpired(at now: Moment) -> Bool { Self.isExpired(expirationSeconds, at: now) }

    /// Whether an expiration has passed; 0 never does.
    static func isExpired(_ expirationSeconds: Int64, at now: Moment) -> Bool {
        expirationSeconds != 0 && expirationSeconds <= now.wallSeconds
    }

    /// Whether the application can be pushed to.
    func hasKey(for environment: APNsEnvironment) -> Bool { settings?.key(for: environment) != nil }

    /// The request for a push; nil if the push cannot stand in one.
    mutating func request(_ push: Push, _ id: RequestID, at now: Moment) -> APNsRequest? {
        let collapseID = push.collapseID ?? collapseID
        guard let settings, push.isWellFormed, collapseID.map(Self.isCollapseID) ?? true,
            let group = group(push, settings),
            let body = renderer.body(push.pushType, timestampSeconds: push.timestampSeconds)
        else { return nil }
        let untilSendBefore = push.sendBeforeMilliseconds.subtractingClamped(now.wall)
        let untilExpired =
            expirationSeconds == 0
            ? Int64.max : expirationSeconds.multipliedClamped(1_000).subtractingClamped(now.wall)
        return APNsRequest(
            id: id, group: group, token: push.channel?.id ?? push.token, apnsID: push.apnsID,
            collapseID: push.channel == nil ? collapseID : nil, body: body,
            sendBeforeMilliseconds: now.monotonic
                + min(untilSendBefore, untilExpired, Self.waitMaxMilliseconds),
            answerWithinMilliseconds: settings.answerWithinMilliseconds, trial: push.trial)
    }

    /// The longest that a push waits here to be sent, whatever its sender says, in milliseconds.
    static let waitMaxMilliseconds: Int64 = 600_000

    private mutating func group(_ push: Push, _ settings: GatewaySettings.Application) -> RequestGroup? {
        let match = groups.first {
            $0.priority == push.priority && $0.pushType == push.pushType
                && $0.lane.environment == push.environment
                && ($0.form == .device) == (push.channel == nil)
                && $0.expirationSeconds == expirationSeconds(push)
        }
        if let match { return match }
        guard let key = settings.key(for: push.environment) else { return nil }
        let group = RequestGroup(
            application: application,
            lane: LaneKey(teamID: key.teamID, keyID: key.keyID, environment: push.environment),
            topic: settings.topic(push.pushType), pushType: push.pushType, priority: push.priority,
            expirationSeconds: expirationSeconds(push),
            form: push.channel == nil ? .device : .broadcast(bundleID: settings.bundleID))
        groups.append(group)
        return group
    }

    /// A channel that keeps nothing takes no other expiration than 0 (Apple, Sending broadcast push notification
    /// requests to APNs); until when the push is worth sending is the pipeline's own business.
    private func expirationSeconds(_ push: Push) -> Int64 {
        push.channel?.isStored == false ? 0 : expirationSeconds
    }

    /// At most 64 bytes (Apple, Sending notification requests to APNs), visible ASCII: it is a header's value.
    private static func isCollapseID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension Push {
    /// Whether its values can stand in a request's header: a neighbour may be wrong.
    fileprivate var isWellFormed: Bool {
        let isHex = token.utf8.allSatisfy { ($0 &- 48) < 10 || ($0 &- 97) < 6 }
        let hasAddress =
            channel.map { Channel.isID($0.id) && pushType == .liveActivity }
            ?? (isHex && (2...1_024).contains(token.utf8.count))
        return hasAddress && apnsID.utf8.count == 36
            && apnsID.utf8.allSatisfy { ($0 &- 48) < 10 || ($0 &- 97) < 6 || $0 == UInt8(ascii: "-") }
            && (priority == 10 || priority == 5)
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }

    fileprivate func multipliedClamped(_ other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? (self < 0 ? .min : .max) : product
    }
}
