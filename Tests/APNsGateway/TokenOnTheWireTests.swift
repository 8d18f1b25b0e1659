import Contracts
import HTTP2
import Testing

@testable import apns_gateway

/// Provider tokens on the wire.
@Suite(.timeLimit(.minutes(1))) struct TokenOnTheWireTests {
    @Test func `one token serves a thousand pushes, and none is older than an hour or replaced too early`()
        throws
    {
        let rig = try Rig()
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
    }

    @Test func `an expired token is replaced once, and the pushes that met it are delivered once`() throws {
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

    @Test func `a token that stays expired is reported as such, and no further one is made`() throws {
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

    @Test func `TooManyProviderTokenUpdates keeps the token and the push for later`() throws {
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

    @Test func `two instances send with the same token`() throws {
        let one = try Rig()
        let other = try Rig(instance: 2, sharing: one)
        one.push([1])
        try one.run { one.delivered == 1 }
        other.push([1])
        try other.run { other.delivered == 1 }
        #expect(one.bearers == other.bearers)
    }
}
