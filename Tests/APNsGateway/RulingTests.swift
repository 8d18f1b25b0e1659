import Contracts
import Testing

@testable import apns_gateway

@Suite struct RulingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var status: Int
        var reason: String?
        var result: Report.Result
        var delay: Int64?
        var connection = Ruling.Connection.keep

        var testDescription: String { "\(status) \(reason ?? "-")" }
    }

    static let rows: [Row] = [
        Row(status: 200, result: .delivered),
        Row(status: 400, reason: "BadChannelId", result: .failed),
        Row(status: 400, reason: "BadCollapseId", result: .failed),
        Row(status: 400, reason: "BadDeviceToken", result: .failed),
        Row(status: 400, reason: "BadExpirationDate", result: .failed),
        Row(status: 400, reason: "BadMessageId", result: .failed),
        Row(status: 400, reason: "BadPriority", result: .failed),
        Row(status: 400, reason: "BadRequestParams", result: .failed),
        Row(status: 400, reason: "BadRequestPayload", result: .failed),
        Row(status: 400, reason: "BadTopic", result: .failed),
        Row(status: 400, reason: "CannotCreateChannelConfig", result: .failed),
        Row(status: 400, reason: "ChannelNotRegistered", result: .failed),
        Row(status: 400, reason: "DeviceTokenNotForTopic", result: .failed),
        Row(status: 400, reason: "DuplicateHeaders", result: .failed),
        Row(status: 400, reason: "FeatureNotEnabled", result: .failed),
        Row(status: 400, reason: "IdleTimeout", result: .retry, delay: 500, connection: .replace),
        Row(status: 400, reason: "InvalidPushType", result: .failed),
        Row(status: 400, reason: "MissingChannelId", result: .failed),
        Row(status: 400, reason: "MissingDeviceToken", result: .failed),
        Row(status: 400, reason: "MissingPushType", result: .failed),
        Row(status: 400, reason: "MissingTopic", result: .failed),
        Row(status: 400, reason: "PayloadEmpty", result: .failed),
        Row(status: 400, reason: "TopicDisallowed", result: .retry, delay: 1_000),
        Row(status: 403, reason: "BadCertificate", result: .retry, delay: 1_000),
        Row(status: 403, reason: "BadCertificateEnvironment", result: .retry, delay: 1_000),
        Row(status: 403, reason: "BadEnvironmentKeyIdInToken", result: .retry, delay: 1_000),
        Row(status: 403, reason: "BadEnvironmentKeyInToken", result: .retry, delay: 1_000),
        Row(status: 403, reason: "ExpiredProviderToken", result: .retry, delay: 1_000),
        Row(status: 403, reason: "Forbidden", result: .retry, delay: 1_000),
        Row(status: 403, reason: "InvalidProviderToken", result: .retry, delay: 1_000),
        Row(status: 403, reason: "MissingProviderToken", result: .retry, delay: 1_000),
        Row(status: 403, reason: "TopicMismatch", result: .failed),
        Row(status: 403, reason: "UnrelatedKeyIdInToken", result: .retry, delay: 1_000, connection: .replace),
        Row(status: 404, reason: "BadPath", result: .failed),
        Row(status: 405, reason: "MethodNotAllowed", result: .failed),
        Row(status: 410, reason: "ExpiredToken", result: .failed),
        Row(status: 410, reason: "Unregistered", result: .failed),
        Row(status: 413, reason: "PayloadTooLarge", result: .failed),
        Row(status: 429, reason: "TooManyProviderTokenUpdates", result: .retry, delay: 10_000),
        Row(status: 429, reason: "TooManyRequests", result: .retry, delay: 10_000),
        Row(status: 500, reason: "InternalServerError", result: .retry, delay: 5_000, connection: .suspect),
        Row(status: 503, reason: "ServiceUnavailable", result: .retry, delay: 5_000, connection: .suspect),
        Row(status: 503, reason: "Shutdown", result: .retry, delay: 1_000, connection: .replace),
    ]

    static let unlisted: [Row] = [
        Row(status: 400, reason: "SomethingNew", result: .failed),
        Row(status: 403, reason: "SomethingNew", result: .retry, delay: 1_000),
        Row(status: 429, result: .retry, delay: 10_000),
        Row(status: 502, result: .retry, delay: 5_000, connection: .suspect),
        Row(status: 302, result: .failed),
        Row(status: 204, result: .delivered),
        // A known reason under another status says nothing.
        Row(status: 400, reason: "Shutdown", result: .failed),
    ]

    @Test(arguments: rows + unlisted)
    func `each answer leads to one result, delay and fate of the connection`(row: Row) {
        let ruling = Ruling.of(status: row.status, reason: row.reason)
        #expect(ruling.result == row.result)
        #expect(ruling.retryAtMilliseconds(time: 1, wall: 0) == row.delay)
        #expect(ruling.connection == row.connection)
    }

    @Test func `every reason of the table is tested`() {
        #expect(Set(Ruling.reasons.keys) == Set(Self.rows.compactMap(\.reason)))
    }

    @Test func `only an expired provider token is replaced`() {
        let replaced = Ruling.reasons.filter { $0.value.ruling.providerToken == .replace }.keys
        #expect(Array(replaced) == ["ExpiredProviderToken"])
    }

    @Test(arguments: [(1, 5), (2, 10), (3, 20), (8, 640), (9, 900), (1_000_000, 900), (-3, 5)])
    func `a server's trouble is waited out for twice as long each time, up to 15 minutes`(
        time: Int, seconds: Int64
    ) {
        let at = Ruling.serverTrouble.retryAtMilliseconds(time: time, wall: 7)
        #expect(at == 7 + seconds * 1_000)
    }

    @Test(arguments: [(Int64(60), Int64(60)), (2, 5), (-9, 5), (.max, 3_600)])
    func `a longer wait that the server asks for is kept, up to an hour`(asked: Int64, seconds: Int64) {
        let at = Ruling.serverTrouble.retryAtMilliseconds(time: 1, wall: 0, retryAfterSeconds: asked)
        #expect(at == seconds * 1_000)
    }
}
