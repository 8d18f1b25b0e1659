import Contracts
import Testing

@testable import Service

@Suite struct PeersTests {
    var peers = Peers()

    private mutating func hear(_ instance: InstanceName, epoch: Int64 = 1, at now: Int64 = 0) {
        peers.heard(hello(), from: Sender(instance, epoch: epoch), nowMilliseconds: now)
    }

    @Test mutating func `who says hello lives, in the order of names`() {
        hear(InstanceName(.rateLimiter, 2))
        hear(InstanceName(.rateLimiter, 1))
        hear(registry)
        #expect(peers.living(.rateLimiter).map(\.instance.number) == [1, 2])
        #expect(peers.livingServices == [.rateLimiter, .tokenRegistry])
        #expect(peers.life(of: gateway) == nil)
    }

    @Test mutating func `a new life counts when it is taken`() {
        hear(limiter, epoch: 1)
        hear(limiter, epoch: 2)
        #expect(peers.life(of: limiter)?.epoch == 1)
        #expect(peers.takeNewLives() == [limiter])
        #expect(peers.life(of: limiter)?.epoch == 2)
        #expect(peers.living(.rateLimiter).map(\.epoch) == [2])
        #expect(peers.takeNewLives() == [])
    }

    @Test mutating func `a late hello of the former life does not bring it back`() {
        hear(limiter, epoch: 1)
        hear(limiter, epoch: 2)
        hear(limiter, epoch: 1)
        #expect(peers.takeNewLives() == [limiter])
        #expect(peers.life(of: limiter)?.epoch == 2)
        hear(limiter, epoch: 1)
        #expect(peers.takeNewLives() == [])
        #expect(peers.life(of: limiter)?.epoch == 2)
    }

    @Test mutating func `a life that a late hello of the former one has pushed aside comes back`() {
        hear(limiter, epoch: 2, at: 0)
        hear(limiter, epoch: 1, at: 500)
        #expect(peers.takeNewLives() == [limiter])
        hear(limiter, epoch: 2, at: 1_000)
        #expect(peers.takeNewLives() == [])
        hear(limiter, epoch: 2, at: 3_000)
        #expect(peers.takeNewLives() == [limiter])
        #expect(peers.life(of: limiter)?.epoch == 2)
        hear(limiter, epoch: 1, at: 3_500)
        #expect(peers.takeNewLives() == [])
    }

    @Test mutating func `a former life that is heard again after the instance was gone counts`() {
        hear(limiter, epoch: 1)
        hear(limiter, epoch: 2)
        _ = peers.takeNewLives()
        #expect(peers.takeGone(nowMilliseconds: 6_000) == [limiter])
        hear(limiter, epoch: 1, at: 6_001)
        #expect(peers.life(of: limiter)?.epoch == 1)
    }

    @Test mutating func `who is silent for five hellos is gone`() {
        hear(limiter, at: 0)
        hear(gateway, at: 1_000)
        #expect(peers.takeGone(nowMilliseconds: 5_500) == [])
        #expect(peers.takeGone(nowMilliseconds: 5_501) == [limiter])
        #expect(peers.living(.rateLimiter) == [])
        #expect(peers.takeGone(nowMilliseconds: 5_501) == [])
    }

    @Test
    mutating func `a service is settled when it has been heard for two seconds, and anew after it was gone`()
    {
        hear(limiter, at: 0)
        #expect(peers.settledServices(nowMilliseconds: 1_999) == [])
        #expect(peers.settledServices(nowMilliseconds: 2_000) == [.rateLimiter])
        _ = peers.takeGone(nowMilliseconds: 6_000)
        hear(limiter, at: 7_000)
        #expect(peers.settledServices(nowMilliseconds: 8_999) == [])
    }

    @Test(arguments: [ServiceName.ingest, .tokenRegistry])
    mutating func `the first hello of a stand-by says that the former one is gone`(service: ServiceName) {
        hear(InstanceName(service, 1))
        hear(InstanceName(service, 2))
        #expect(peers.takeGone(nowMilliseconds: 0) == [InstanceName(service, 1)])
        #expect(peers.living(service).map(\.instance.number) == [2])
        hear(InstanceName(service, 2))
        #expect(peers.takeGone(nowMilliseconds: 0) == [])
    }

    @Test mutating func `services of many instances keep all of them`() {
        hear(InstanceName(.rateLimiter, 1))
        hear(InstanceName(.rateLimiter, 2))
        #expect(peers.takeGone(nowMilliseconds: 0) == [])
    }

    @Test mutating func `windows of no sense are bounded`() {
        peers.heard(
            hello(Windows(targets: .max, pushes: .min)), from: Sender(gateway, epoch: 1), nowMilliseconds: 0)
        #expect(peers.windows(of: gateway)?.pushes == 0)
        #expect(peers.windows(of: gateway)?.targets == 1 << 30)
    }
}

@Suite struct RoomTests {
    private func room(_ windows: Windows = Windows(targets: 100), used: [String: Int] = [:]) -> Room {
        Room(
            places: [
                Room.Place(
                    instance: limiter, windows: windows, used: [.targets: used.values.reduce(0, +)],
                    usedByAccount: [.targets: used])
            ], settledServices: [.rateLimiter])
    }

    @Test(
        arguments: [
            ([:], "A", 50), (["A": 50], "A", 0), (["A": 50], "B", 25), (["A": 20], "A", 30),
            (["A": 100], "B", 0),
            (["A": 99], "B", 1), (["A": 99], "A", 0),
        ] as [([String: Int], String, Int)])
    func `no account holds more of a window than is still free`(
        used: [String: Int], account: String, free: Int
    ) {
        #expect(room(used: used).free(.targets, at: limiter, account: account) == free)
    }

    @Test func `a window of one can be used`() {
        #expect(room(Windows(targets: 1)).free(.targets, at: limiter, account: "A") == 1)
        #expect(room(Windows(targets: 0)).free(.targets, at: limiter, account: "A") == 0)
    }

    @Test func `what is taken is counted`() {
        var room = room()
        room.take(30, .targets, at: limiter, account: "A")
        #expect(room.free(.targets, at: limiter, account: "A") == 20)
        room.take(1, .targets, at: gateway, account: "A")
        #expect(room.free(.targets, at: gateway, account: "A") == 0)
    }

    @Test func `the roomiest instance is found, and none where none has room`() {
        let places = [3, 7, 5].enumerated().map { index, count in
            Room.Place(instance: InstanceName(.segmenter, index + 1), windows: Windows(commands: count))
        }
        let room = Room(places: places, settledServices: [])
        #expect(room.roomiest(.commands, of: .segmenter, account: "A") == InstanceName(.segmenter, 2))
        #expect(room.roomiest(.commands, of: .ingest, account: "A") == nil)
    }

    @Test func `a device keeps its owner unless that one goes`() {
        func room(_ numbers: [Int]) -> Room {
            Room(
                places: numbers.map {
                    Room.Place(instance: InstanceName(.rateLimiter, $0), windows: Windows())
                }, settledServices: [.rateLimiter])
        }
        let (three, two) = (room([1, 2, 3]), room([1, 3]))
        var counts: [InstanceName: Int] = [:]
        for device in 0..<3_000 as Range<Int64> {
            guard let owner = three.owner(ofDevice: device, in: .rateLimiter) else { continue }
            counts[owner, default: 0] += 1
            if owner.number != 2 { #expect(two.owner(ofDevice: device, in: .rateLimiter) == owner) }
        }
        #expect(counts.values.allSatisfy { (800...1_200).contains($0) })
        #expect(counts.count == 3)
    }

    @Test func `before a service is settled a device has no owner`() {
        let room = Room(
            places: [Room.Place(instance: limiter, windows: Windows())], settledServices: [.apnsGateway])
        #expect(room.owner(ofDevice: 1, in: .rateLimiter) == nil)
    }

    @Test func `a core that runs alone has room for everything`() {
        let room = Room.boundless()
        for service in ServiceName.allCases {
            #expect(room.free(.targets, at: InstanceName(service), account: "A") > 1_000_000_000)
            #expect(room.owner(ofDevice: 1, in: service) == InstanceName(service))
        }
    }
}
