import Contracts
import Testing

@testable import apns_gateway

@Suite struct ConnectPolicyTests {
    var policy = ConnectPolicy(ConnectionLimits())

    @Test mutating func `connects that come to nothing follow each other ever more slowly, up to 10 s`() {
        var delays: [Int64] = []
        for _ in 1...9 {
            policy.begun(at: 0)
            policy.failed(at: 0)
            delays.append(policy.notBefore)
        }
        #expect(delays == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
        policy.answered(isDelivery: false)
        policy.begun(at: 50_000)
        #expect(policy.notBefore == 50_100)
    }

    @Test mutating func `a failure is counted from its end, not from the beginning of the connect`() {
        policy.begun(at: 0)
        policy.failed(at: 10_000)
        #expect(policy.notBefore == 10_100)
    }

    @Test mutating func `it is crowded after a second without a free stream`() {
        var found = [policy.isCrowded(true, at: 1_000)]
        #expect(policy.nextDeadlineMilliseconds(at: 1_000) == 2_000)
        found += [policy.isCrowded(true, at: 1_999), policy.isCrowded(true, at: 2_000)]
        found += [policy.isCrowded(false, at: 2_001), policy.isCrowded(true, at: 2_002)]
        policy.begun(at: 2_500)
        found.append(policy.isCrowded(true, at: 3_100))
        #expect(found == [false, false, true, false, false, false])
    }

    @Test mutating func `connections are given up for trouble ever more rarely, until one delivers`() {
        var found = [Int64(0), 9_999, 10_000, 29_999, 30_000].map { policy.mayGiveUp(at: $0) }
        policy.answered(isDelivery: true)
        found += [Int64(70_000), 80_000].map { policy.mayGiveUp(at: $0) }
        #expect(found == [true, false, true, false, true, true, true])
    }
}

@Suite struct RequestQueueTests {
    private static func request(_ device: Int64, sendBefore: Int64) -> APNsRequest {
        let group = RequestGroup(
            application: "A", lane: LaneKey(teamID: "T", keyID: "K", environment: .production), topic: "t",
            pushType: .liveActivity, priority: 10, expirationSeconds: 0)
        return APNsRequest(
            id: RequestID(push: PushID(message: 1, device: device), number: 1), group: group, token: "a1",
            apnsID: "", collapseID: nil, body: [], sendBeforeMilliseconds: sendBefore,
            answerWithinMilliseconds: 1, trial: false)
    }

    @Test func `requests come out in their order, what came back first`() {
        var queue = RequestQueue()
        for device in 1...3 { queue.append(Self.request(Int64(device), sendBefore: 9)) }
        let first = queue.popFirst()
        if let first { queue.putBack(first) }
        #expect(queue.count == 3)
        var devices: [Int64] = []
        while let next = queue.popFirst() { devices.append(next.request.id.push.device) }
        #expect(devices == [1, 2, 3])
        #expect(queue.earliestSendBefore == .max)
    }

    @Test func `what is late is taken out, and nothing is looked at before`() {
        var queue = RequestQueue()
        queue.append(Self.request(1, sendBefore: 30))
        queue.append(Self.request(2, sendBefore: 10))
        queue.append(Self.request(3, sendBefore: 20))
        let early = queue.removeLate(at: 9)
        let late = queue.removeLate(at: 20)
        #expect(early.isEmpty)
        #expect(late.map(\.id.push.device) == [2, 3])
        #expect(queue.earliestSendBefore == 30)
        #expect(queue.count == 1)
    }
}
