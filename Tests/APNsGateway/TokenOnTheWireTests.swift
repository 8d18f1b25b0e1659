import Contracts
import Crypto
import HTTP2
import JSON
import Service
import Testing

@testable import apns_gateway

/// Provider tokens on the wire.
@Suite(.timeLimit(.minutes(10))) struct TokenOnTheWireTests {
    @Test func `jwt-reuse: one serves a thousand pushes, none is older than an hour or replaced too early`()
        throws
    {
        let rig = try Rig()
        var ages: Set<Int64> = []
        rig.react = { rig, request in
            ages.insert(rig.now.wallSeconds - (Self.issuedAt(request) ?? 0))
            return .answer(200)
        }
        rig.push(1...1_000)
        try rig.run { rig.delivered == 1_000 }
        #expect(rig.bearers.count == 1)
        rig.skip(seconds: 45 * 60)
        rig.push(1_001...1_010)
        try rig.run { rig.delivered == 1_010 }
        #expect(rig.bearers.count == 1)
        for minute in 1...24 {
            rig.skip(seconds: 5 * 60)
            rig.push([Int64(2_000 + minute)])
            try rig.run { rig.delivered == 1_010 + minute }
        }
        // 165 minutes in all, 50 for each token.
        #expect(rig.bearers.count == 4)
        #expect(ages.allSatisfy { (0..<3_600).contains($0) })
        let issues = rig.requests.compactMap(Self.issuedAt)
        #expect(zip(issues, issues.dropFirst()).allSatisfy { $0 == $1 || $1 - $0 >= 1_200 })
    }

    /// The `iat` of the token that a request came with.
    private static func issuedAt(_ request: HTTP2ServerRequest) -> Int64? {
        let parts = request.headers["authorization"]?.split(separator: ".") ?? []
        guard parts.count == 3, let claims = Base64URL.decode(parts[1]) else { return nil }
        return try? JSONDocument(claims).root["iat"]?.int64
    }

    @Test func `jwt-expired-answer: it is replaced once, and the pushes that met it are delivered once`()
        throws
    {
        let rig = try Rig().warm()
        let first = rig.bearers[0]
        rig.react = { _, request in
            request.headers["authorization"] == first ? .answer(403, "ExpiredProviderToken") : .answer(200)
        }
        rig.push(2...51)
        try rig.run { rig.reports.count == 51 }
        #expect(rig.delivered == 51)
        #expect(rig.bearers.count == 2)
        #expect(rig.requests.count == 101)
    }

    @Test func `jwt-expired-answer: one that stays expired is reported as such, and no further one is made`()
        throws
    {
        let rig = try Rig()
        rig.handsOverAgain = true
        rig.react = { _, _ in .answer(403, "ExpiredProviderToken") }
        rig.push([1])
        for count in 1...6 {
            try rig.run { rig.reports.count == count }
            rig.skip(seconds: 60)
        }
        #expect(rig.reports.allSatisfy { $0.reason == "ExpiredProviderToken" && $0.result == .retry })
        #expect(rig.bearers.count == 2)
        #expect(rig.lines.all.count { $0.contains("provider-token-refused") } == 1)
    }

    @Test func `jwt-reuse: TooManyProviderTokenUpdates keeps the token and the push for later`() throws {
        let rig = try Rig()
        rig.handsOverAgain = true
        rig.react = { rig, _ in
            rig.requests.count == 1 ? .answer(429, "TooManyProviderTokenUpdates") : .answer(200)
        }
        rig.push([1])
        try rig.run { rig.reports.count == 1 }
        #expect(rig.delivered == 0)
        rig.skip(seconds: 10)
        try rig.run { rig.delivered == 1 }
        #expect(rig.bearers.count == 1)
    }

    @Test func `jwt-reuse: two instances send with the same token`() throws {
        let one = try Rig()
        let other = try Rig(instance: 2, sharing: one)
        one.push([1])
        try one.run { one.delivered == 1 }
        other.push([1])
        try other.run { other.delivered == 1 }
        #expect(one.bearers == other.bearers)
    }
}
