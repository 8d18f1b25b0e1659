import Contracts
import Foundation
import Testing

/// Runs one story under faults, lets the world become kind again, and checks every promise.
private func simulate(seed: UInt64, faults: Faults) throws -> (breaches: [String], summary: String) {
    let world = try World(seed: seed, faults: faults)
    let story = Story(world)
    story.plan()
    try world.run(seconds: 130)
    world.faults = .none
    var breaches: [String] = []
    // Time for what is sent again after a minute, and for tokens that come late.
    var settled = false
    for _ in 0..<40 where !settled {
        try world.run(seconds: 60)
        story.ask()
        try world.run(seconds: 2)
        settled = story.unsettled.isEmpty
    }
    if !settled {
        breaches.append("\(story.unsettled.count) of \(story.codes.count) messages are not settled")
    }
    breaches += world.phones.violations
    for activity in story.activities where activity.startAccepted {
        breaches += unfinished(activity, world)
    }
    if world.kills == 0, world.phones.duplicates > 0, faults.silent == 0, faults.double == 0 {
        breaches.append("\(world.phones.duplicates) duplicates without a kill")
    }
    let summary = """
        seed \(seed): \(story.codes.count) messages, \(world.phones.arrivals.count) pushes, \(world.kills) kills, \
        \(world.phones.duplicates) duplicates
        """
    if ProcessInfo.processInfo.environment["LIVELINE_TRACE"] != nil {
        FileHandle.standardError.write(
            Data("\(summary), \(story.refused.count) refused \(Set(story.refused).sorted())\n".utf8))
    }
    return (breaches, summary)
}

/// What a phone shows although the door has accepted something newer.
private func unfinished(_ activity: Story.Activity, _ world: World) -> [String] {
    guard let newest = activity.accepted.keys.max() else { return [] }
    return activity.devices.compactMap { device in
        guard let shown = world.phones.shown[device]?[activity.name] else {
            return "\(activity.name) was never started on \(device)"
        }
        if let end = activity.endAccepted, !shown.ended {
            return "\(activity.name) goes on at \(device) after its end \(end): \(shown)"
        }
        guard let last = shown.n.last, last >= newest else {
            return "\(activity.name) at \(device) shows \(shown.n), newest is \(newest)"
        }
        return nil
    }
}

/// How many seeds each test runs; `LIVELINE_SEEDS` asks for another number, `LIVELINE_SEED` for one seed alone.
private func seeds(_ count: Int) -> [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let one = environment["LIVELINE_SEED"].flatMap(UInt64.init) { return [one] }
    return (1...UInt64(environment["LIVELINE_SEEDS"].flatMap(Int.init) ?? count)).map { $0 }
}

@Suite struct `The whole pipeline in one simulation` {
    @Test(arguments: seeds(10))
    func `keeps its promises in a kind world`(seed: UInt64) throws {
        let (breaches, summary) = try simulate(seed: seed, faults: .none)
        #expect(breaches == [], "\(summary)")
    }

    @Test(arguments: seeds(200))
    func `keeps its promises whatever breaks`(seed: UInt64) throws {
        let (breaches, summary) = try simulate(seed: seed, faults: .all)
        #expect(breaches == [], "\(summary)")
    }

    @Test func `is the same again from the same seed`() throws {
        #expect(try simulate(seed: 7, faults: .all).summary == simulate(seed: 7, faults: .all).summary)
    }
}
