import Contracts
import HTTP2

/// The header fields of the requests of one group: what they share is written once.
///
/// Names and values: Apple, Sending notification requests to APNs, Sending broadcast push notification requests to APNs
/// and Sending channel management requests to APNs. `:path`, `apns-id` and the like are kept out of the
/// HPACK table, where they would only take the place of what comes again.
struct HeaderTemplate {
    /// Whose requests these are.
    let group: RequestGroup
    private static let pathHead = Array("/3/device/".utf8)

    private var headers: HTTP2Headers
    private let sharedCount: Int
    /// Used again for each request: a push should cost no memory of its own here.
    private var path = pathHead

    /// Writes the fields that all requests of a group share.
    ///
    /// - Parameters:
    ///   - group: the group.
    ///   - authority: the host, with its port where it is not 443; nil leaves `:authority` out.
    ///   - providerToken: follows `bearer`; nil leaves `authorization` out.
    init(_ group: RequestGroup, authority: String?, providerToken: String?) {
        self.group = group
        headers = HTTP2Headers()
        headers.reserve(fields: 12, bytes: 1_024)
        if case .channelCall(let method, _) = group.form {
            headers.append(":method", method)
        } else {
            headers.append(":method", "POST")
        }
        headers.append(":scheme", "https")
        if let authority { headers.append(":authority", authority) }
        if let providerToken { headers.append("authorization", "bearer " + providerToken) }
        switch group.form {
        case .device:
            headers.append("apns-topic", group.topic)
            Self.appendPush(group, to: &headers)
        case .broadcast(let bundleID):
            headers.append(":path", "/4/broadcasts/apps/\(bundleID)")
            Self.appendPush(group, to: &headers)
        case .channelCall(_, let path): headers.append(":path", path)
        }
        sharedCount = headers.count
    }

    private static func appendPush(_ group: RequestGroup, to headers: inout HTTP2Headers) {
        headers.append("apns-push-type", group.pushType.rawValue)
        headers.append("apns-priority", String(group.priority))
        headers.append("apns-expiration", String(group.expirationSeconds), indexed: false)
    }

    /// All fields of one request.
    mutating func headers(of request: APNsRequest) -> HTTP2Headers {
        headers.truncate(to: sharedCount)
        guard group.form == .device else { return channelHeaders(of: request) }
        path.removeLast(path.count - Self.pathHead.count)
        path += request.token.utf8
        headers.append(":path", bytes: path, indexed: false)
        headers.append("apns-id", request.apnsID, indexed: false)
        if let collapseID = request.collapseID {
            headers.append("apns-collapse-id", collapseID, indexed: false)
        }
        return headers
    }

    private mutating func channelHeaders(of request: APNsRequest) -> HTTP2Headers {
        // The channel comes again and again, unlike a device's path.
        if !request.token.isEmpty { headers.append("apns-channel-id", request.token) }
        if !request.apnsID.isEmpty { headers.append("apns-request-id", request.apnsID, indexed: false) }
        return headers
    }
}
