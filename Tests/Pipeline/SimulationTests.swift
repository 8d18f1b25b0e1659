import Contracts
import Foundation
import Testing

/// Runs one story under faults, lets the world become kind again, and checks every promise.
private func simulate(
    seed: UInt64, faults: Faults, plant: Plant? = nil, refusals: [(status: Int, reason: String)] = [],
    clockSteps: Int = 0
) throws -> (breaches: [String], summary: String, planted: Int) {
    let world = try World(seed: seed, faults: faults)
    defer { world.end() }
    world.planted = plant.map(Planted.init)
    let story = Story(world)
    story.plan()
    if !refusals.isEmpty { world.planRefusals(refusals) }
    world.planClock(steps: clockSteps)
    try world.run(seconds: 130)
    try world.comeToRest(asking: story.ask) { story.unsettled.isEmpty }
    story.ask()
    try world.run(seconds: 2)
    var breaches = Promises(world: world, story: story).breaches()
    // What is sent again after a minute is a net under mistakes: only a parcel that was lost between two that live needs it.
    if faults.drop == 0 { breaches += world.logs.filter { $0.contains(" sent-again ") } }
    let summary = """
        seed \(seed): \(story.codes.count) messages, \(world.phones.arrivals.count) pushes, \(world.kills) kills, \
        \(world.failures) failures, \(world.phones.duplicates) duplicates
        """
    if ProcessInfo.processInfo.environment["TESTS_TRACE"] != nil {
        FileHandle.standardError.write(
            Data("\(summary), \(story.refused.count) refused \(Set(story.refused).sorted())\n".utf8))
    }
    return (breaches, summary, world.planted?.count ?? 0)
}

/// How many seeds each test runs; `TESTS_SEEDS` and `TESTS_FIRST_SEED` ask for others, `TESTS_SEED` for one.
func seeds(_ count: Int) -> [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let one = environment["TESTS_SEED"].flatMap(UInt64.init) { return [one] }
    let first = environment["TESTS_FIRST_SEED"].flatMap(UInt64.init) ?? 1
    return (0..<UInt64(environment["TESTS_SEEDS"].flatMap(Int.init) ?? count)).map { first + $0 }
}

@Suite struct `The whole pipeline in one simulation` {
    @Test(arguments: seeds(10))
    func `keeps its promises in a kind world`(seed: UInt64) throws {
        let (breaches, summary, _) = try simulate(seed: seed, faults: .none)
        #expect(breaches == [], "\(summary)")
    }

    @Test(arguments: seeds(200))
    func `keeps its promises whatever breaks`(seed: UInt64) throws {
        let (breaches, summary, _) = try simulate(seed: seed, faults: seed % 4 == 0 ? .disorder : .all)
        #expect(breaches == [], "\(summary)")
    }

    @Test(arguments: seeds(60))
    func `keeps its promises while stores fail and go on`(seed: UInt64) throws {
        var faults = Faults.fullDisk
        if seed % 2 == 0 { faults.drop = 0 }
        let (breaches, summary, _) = try simulate(seed: seed, faults: faults)
        #expect(breaches == [], "\(summary)")
    }

    @Test(arguments: seeds(60))
    func `keeps its promises while the application is out of order at APNs`(seed: UInt64) throws {
        let refusals = [
            (403, "InvalidProviderToken"), (400, "TopicDisallowed"), (403, "ExpiredProviderToken"),
            (403, "UnrelatedKeyIdInToken"),
        ]
        let (breaches, summary, _) = try simulate(
            seed: seed, faults: seed % 2 == 0 ? .all : .fullDisk, refusals: refusals)
        #expect(breaches == [], "\(summary)")
    }

    @Test(arguments: seeds(60))
    func `keeps its promises while the clock is set`(seed: UInt64) throws {
        var faults = seed % 4 == 0 ? Faults.fullDisk : .all
        // What stood on the wire of a push whose report the network has lost is known a minute later only.
        faults.drop = 0
        let (breaches, summary, _) = try simulate(seed: seed, faults: faults, clockSteps: 6)
        // What died within five minutes of its registration by another clock may seem to have been registered since.
        let others = breaches.filter { !$0.hasPrefix("a dead token is used again") }
        #expect(others == [], "\(summary)")
    }

    /// A check that has never failed may be one that cannot.
    @Test(arguments: Plant.allCases)
    func `catches a planted mistake`(plant: Plant) throws {
        var caught: [String] = []
        var planted = 0
        // One mistake can break several promises, and not the same one first under each seed.
        for seed in 1...5 as ClosedRange<UInt64> where !caught.contains(where: { $0.contains(plant.breach) })
        {
            let result = try simulate(seed: seed, faults: .all, plant: plant)
            caught += result.breaches
            planted += result.planted
        }
        #expect(caught.contains { $0.contains(plant.breach) }, "planted \(planted) times: \(caught)")
    }

    @Test func `is the same again from the same seed`() throws {
        #expect(try simulate(seed: 7, faults: .all).summary == simulate(seed: 7, faults: .all).summary)
    }
}
