import Contracts
import Service
import Testing

@testable import apns_gateway

/// A wrong configuration, until the registry has said that the application is paused.
@Suite(.timeLimit(.minutes(10))) struct BadTokenRunTests {
    @Test func `a wrong configuration burns what was written and the rest of twenty, not what waits`() throws
    {
        let rig = try Rig(streamLimit: 100).warm()
        rig.react = { _, _ in .silence }
        rig.push(2...1_001)
        try rig.run { rig.requests.count == 101 }
        rig.react = { _, _ in .answer(400, "BadDeviceToken") }
        for request in rig.requests.dropFirst() { rig.refuse(request) }
        try rig.run { rig.reports.count == 101 }
        // One at a time from here on: the registry has what it needs, and its word is on its way.
        rig.perform(rig.bench.hello(paused: [PauseTests.pause]))
        try rig.run { rig.reports.count == 1_001 }
        let burnt = rig.reports.count { $0.reason == "BadDeviceToken" }
        #expect((100...103).contains(burnt))
        #expect(rig.reports.count { $0.reason == "paused" } == 1_000 - burnt)
    }

    @Test func `after the first bad token no more are under way than it takes to be sure`() throws {
        let rig = try Rig().warm()
        var most = 0
        rig.react = { rig, request in
            let answered = rig.reports.count
            most = max(most, rig.requests.count - answered)
            return .answer(400, "BadDeviceToken")
        }
        rig.push([2])
        try rig.run { rig.reports.count == 2 }
        rig.push(3...200)
        try rig.run { rig.reports.count >= 40 }
        #expect(most <= 19)
    }

    @Test func `a bad token among good ones slows nothing down`() {
        let limits = ConnectionLimits()
        var run = BadTokenRun()
        var allowed = [run.allows(999, limits)]
        run.note(APNsAnswer(status: 400, reason: "BadDeviceToken"))
        allowed += [run.allows(18, limits), run.allows(19, limits)]
        run.note(APNsAnswer(status: 200))
        allowed.append(run.allows(999, limits))
        for _ in 1...30 { run.note(APNsAnswer(status: 400, reason: "BadDeviceToken")) }
        run.note(APNsAnswer(status: 503, reason: "ServiceUnavailable"))
        allowed += [run.allows(0, limits), run.allows(1, limits)]
        run.note(APNsAnswer(status: 410, reason: "Unregistered"))
        allowed.append(run.allows(1, limits))
        #expect(allowed == [true, true, false, true, true, false, true])
    }
}
