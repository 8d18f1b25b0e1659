import Contracts
import Foundation
import Testing

/// Runs the story of a channel under faults, lets the world become kind again, and checks what was promised.
private func simulate(seed: UInt64, faults: Faults) throws -> (breaches: [String], summary: String) {
    let world = try World(seed: seed, faults: faults)
    defer { world.end() }
    let story = ChannelStory(world)
    story.plan()
    try world.run(seconds: 130)
    try world.comeToRest(asking: story.ask) { story.unsettled.isEmpty }
    let summary = """
        seed \(seed): \(story.codes.count) messages, \(world.phones.arrivals.count) pushes, \(story.broadcasts) of \
        them broadcasts, \(world.kills) kills
        """
    if ProcessInfo.processInfo.environment["TESTS_TRACE"] != nil {
        FileHandle.standardError.write(Data("\(summary)\n".utf8))
    }
    return (story.breaches(), summary)
}

@Suite struct `A channel in the simulation` {
    @Test(arguments: seeds(5))
    func `keeps its promises in a kind world`(seed: UInt64) throws {
        let (breaches, summary) = try simulate(seed: seed, faults: .none)
        #expect(breaches == [], "\(summary)")
    }

    @Test(arguments: seeds(40))
    func `keeps its promises under faults on every hop`(seed: UInt64) throws {
        let (breaches, summary) = try simulate(seed: seed, faults: seed % 4 == 0 ? .disorder : .all)
        #expect(breaches == [], "\(summary)")
    }
}
