import Contracts
import Testing

@testable import Service

@Suite struct OutboxTests {
    var outbox = Outbox()
    var peers = Peers()

    init() {
        for instance in [registry, limiter, gateway, ingest, segmenter] { hear(instance) }
    }

    private mutating func hear(_ instance: InstanceName, epoch: Int64 = 1, _ windows: Windows = Windows()) {
        peers.heard(hello(windows), from: Sender(instance, epoch: epoch), nowMilliseconds: 0)
    }

    private mutating func sent(_ now: Int64 = 0) -> [Message] {
        outbox.dispatch(peers, nowMilliseconds: now).map(\.1)
    }

    // MARK: Keeping

    @Test mutating func `what is sent again after the clock was set tells instants of that clock`() {
        var kept = target(1)
        kept.pace.fullAtMilliseconds = 1_700_000_015_000
        outbox.add(targets([kept]), .instance(limiter), receiver: .rateLimiter)
        outbox.add(report(2), .service(.tokenRegistry), receiver: .tokenRegistry)
        #expect(sent().count == 2)
        outbox.moveInstants(byMilliseconds: -8_000)
        for instance in [limiter, registry] {
            hear(instance, epoch: 2)
            _ = outbox.takeBack(from: instance, .newLife)
        }
        kept.pace.fullAtMilliseconds -= 8_000
        kept.sendBeforeMilliseconds -= 8_000
        #expect(sent() == [targets([kept]), report(2)])
    }

    @Test mutating func `a message goes once and is kept until it is answered`() {
        outbox.add(.command(command(1)), .service(.segmenter), receiver: .segmenter)
        #expect(sent() == [.command(command(1))])
        #expect(sent() == [])
        #expect(outbox.count == 1)
        outbox.answered([.command(message: 1)])
        #expect(outbox.count == 0)
        #expect(outbox.used(at: segmenter)[.commands] == 0)
    }

    @Test mutating func `a group of registrations takes room for all of them, until its one answer`() {
        func group(_ sequence: Int64) -> Message {
            .registrations(
                RegistrationGroup(
                    sequence: sequence, application: "A", acceptedAtMilliseconds: 0,
                    entries: (0..<400).map {
                        .init(sequence: sequence + $0, device: "d", change: .unregister)
                    }))
        }
        for sequence in [1, 1_001, 2_001] as [Int64] {
            outbox.add(group(sequence), .service(.segmenter), receiver: .segmenter)
        }
        #expect(sent().count == 2)
        #expect(outbox.used(at: segmenter)[.registrations] == 800)
        outbox.answered([.registration(sequence: 1, by: .segmenter)])
        #expect(outbox.used(at: segmenter)[.registrations] == 400)
        #expect(sent() == [group(2_001)])
        #expect(outbox.takeBack(from: segmenter, .newLife) == [])
        #expect(outbox.used(at: segmenter)[.registrations] == 0)
        #expect(sent() == [group(1_001), group(2_001)])
    }

    @Test mutating func `what is kept already is not kept twice`() {
        for _ in 0..<2 { outbox.add(.command(command(1)), .service(.segmenter), receiver: .segmenter) }
        #expect(sent().count == 1)
        outbox.add(targets([target(1)]), .instance(limiter), receiver: .rateLimiter)
        outbox.add(targets([target(1), target(2)]), .instance(limiter), receiver: .rateLimiter)
        #expect(sent().map(\.devices) == [[1], [2]])
        outbox.add(targets([target(1), target(2)]), .instance(limiter), receiver: .rateLimiter)
        #expect(sent() == [])
    }

    @Test mutating func `answers to what is not kept change nothing`() {
        outbox.answered([.command(message: 9), key(1)])
        outbox.add(targets([target(1)]), .instance(limiter), receiver: .rateLimiter)
        _ = sent()
        outbox.answered([key(1), key(1), key(1)])
        #expect(outbox.count == 0)
        #expect(outbox.used(at: limiter)[.targets] == 0)
    }

    @Test mutating func `pieces are answered one by one, and only the others go again`() {
        outbox.add(targets([target(1), target(2), target(3)]), .instance(limiter), receiver: .rateLimiter)
        _ = sent()
        outbox.answered([key(2)])
        #expect(outbox.count == 2)
        #expect(outbox.used(at: limiter)[.targets] == 2)
        #expect(outbox.takeBack(from: limiter, .newLife) == [])
        #expect(outbox.used(at: limiter)[.targets] == 0)
        #expect(sent().map(\.devices) == [[1, 3]])
        #expect(outbox.used(at: limiter)[.targets] == 2)
    }

    @Test mutating func `a target that got a new token goes with it when it goes again`() throws {
        outbox.add(targets([target(1), target(2)]), .instance(limiter), receiver: .rateLimiter)
        _ = sent()
        outbox.retarget(Retarget(id: PushID(message: 1, device: 2), attempt: 1, token: "ff"))
        outbox.retarget(Retarget(id: PushID(message: 1, device: 1), attempt: 9, token: "ee"))
        _ = outbox.takeBack(from: limiter, .newLife)
        #expect(sent() == [targets([target(1), target(2, token: "ff")])])
    }

    // MARK: Lives

    @Test mutating func `to a new life targets go again and pushes are lost`() {
        outbox.add(targets([target(1)]), .instance(limiter), receiver: .rateLimiter)
        outbox.add(pushes([5, 6]), .instance(gateway), receiver: .apnsGateway)
        _ = sent()
        #expect(outbox.takeBack(from: limiter, .newLife) == [])
        #expect(outbox.takeBack(from: gateway, .newLife) == [key(5), key(6)])
        #expect(outbox.count == 1)
        #expect(sent().map(\.devices) == [[1]])
    }

    @Test mutating func `of an instance that is gone targets and pushes are lost, all else goes to another`()
    {
        hear(InstanceName(.segmenter, 2))
        outbox.add(.command(command(1)), .instance(segmenter), receiver: .segmenter)
        outbox.add(.command(command(2)), .service(.segmenter), receiver: .segmenter)
        outbox.add(targets([target(1)]), .instance(limiter), receiver: .rateLimiter)
        let first = outbox.dispatch(peers, nowMilliseconds: 0)
        #expect(first[0].0.instance == segmenter)
        #expect(outbox.takeBack(from: limiter, .gone) == [key(1)])
        _ = peers.takeGone(nowMilliseconds: 0)
        peers = Peers()
        hear(InstanceName(.segmenter, 2))
        #expect(outbox.takeBack(from: segmenter, .gone) == [])
        let second = outbox.dispatch(peers, nowMilliseconds: 0)
        #expect(second.map(\.0.instance) == [InstanceName(.segmenter, 2)])
        #expect(second.map(\.1) == [.command(command(1))])
    }

    @Test mutating func `what never went to the instance that is gone goes to another too`() {
        peers = Peers()
        outbox.add(.command(command(1)), .instance(segmenter), receiver: .segmenter)
        outbox.add(targets([target(1)]), .instance(limiter), receiver: .rateLimiter)
        #expect(sent() == [])
        #expect(outbox.takeBack(from: segmenter, .gone) == [])
        #expect(outbox.takeBack(from: limiter, .gone) == [key(1)])
        hear(InstanceName(.segmenter, 7))
        #expect(outbox.dispatch(peers, nowMilliseconds: 0).map(\.0.instance) == [InstanceName(.segmenter, 7)])
        #expect(!outbox.hasUnsent)
    }

    @Test mutating func `a key that is kept anew is not taken away with what it was kept in before`() {
        outbox.add(pushes([1, 2]), .instance(gateway), receiver: .apnsGateway)
        _ = sent()
        outbox.answered([key(1)])
        hear(InstanceName(.apnsGateway, 2))
        outbox.add(pushes([1]), .instance(InstanceName(.apnsGateway, 2)), receiver: .apnsGateway)
        _ = sent()
        #expect(outbox.takeBack(from: gateway, .gone) == [key(2)])
        #expect(outbox.count == 1)
        #expect(outbox.used(at: InstanceName(.apnsGateway, 2))[.pushes] == 1)
    }

    @Test mutating func `what goes again keeps its order among what was not sent yet`() {
        for sequence in 1...3 as ClosedRange<Int64> {
            outbox.add(.command(command(sequence)), .service(.segmenter), receiver: .segmenter)
        }
        _ = sent()
        outbox.add(.command(command(4)), .service(.segmenter), receiver: .segmenter)
        outbox.answered([.command(message: 2)])
        _ = outbox.takeBack(from: segmenter, .newLife)
        #expect(sent() == [1, 3, 4].map { .command(command($0)) })
    }

    // MARK: Rooms

    @Test mutating func `no more goes to a service than its windows take`() {
        peers = Peers()
        hear(segmenter, Windows(commands: 2))
        for sequence in 1...5 as ClosedRange<Int64> {
            outbox.add(.command(command(sequence)), .service(.segmenter), receiver: .segmenter)
        }
        #expect(sent().count == 2)
        outbox.answered([.command(message: 1)])
        #expect(sent() == [.command(command(3))])
        #expect(outbox.usedByAccount(at: segmenter)[.commands] == ["A": 2])
    }

    @Test mutating func `one full window does not hold up another`() {
        peers = Peers()
        hear(segmenter, Windows(registrations: 1, commands: 0))
        outbox.add(.command(command(1)), .service(.segmenter), receiver: .segmenter)
        outbox.add(.command(command(2)), .service(.segmenter), receiver: .segmenter)
        let registration = Message.registration(
            Registration(
                sequence: 3, application: "A", device: "d", change: .unregister, acceptedAtMilliseconds: 0))
        outbox.add(registration, .service(.segmenter), receiver: .segmenter)
        // Of a window of nothing one is taken at a time, or its work would wait for ever.
        #expect(sent() == [.command(command(1)), registration])
    }

    @Test mutating func `work goes to the instance with the most room`() {
        hear(InstanceName(.segmenter, 2), Windows(commands: 300))
        outbox.add(.command(command(1)), .service(.segmenter), receiver: .segmenter)
        #expect(outbox.dispatch(peers, nowMilliseconds: 0).map(\.0.instance) == [InstanceName(.segmenter, 2)])
    }

    // MARK: Sending again

    @Test mutating func `what is unanswered for a minute goes again, then at doubling times`() {
        outbox.add(.command(command(1)), .service(.segmenter), receiver: .segmenter)
        _ = sent(0)
        #expect(outbox.overdue(nowMilliseconds: 59_999) == 0)
        #expect(outbox.overdue(nowMilliseconds: 60_000) == 1)
        #expect(sent(60_000).count == 1)
        #expect(outbox.overdue(nowMilliseconds: 179_999) == 0)
        #expect(outbox.overdue(nowMilliseconds: 180_000) == 1)
        #expect(outbox.used(at: segmenter)[.commands] == 0)
    }

    @Test mutating func `what is answered in time is not looked at again`() {
        for sequence in 1...3 as ClosedRange<Int64> {
            outbox.add(.command(command(sequence)), .service(.segmenter), receiver: .segmenter)
            _ = sent(sequence * 1_000)
        }
        outbox.answered([.command(message: 1), .command(message: 3)])
        #expect(outbox.overdue(nowMilliseconds: 61_500) == 0)
        #expect(outbox.overdue(nowMilliseconds: 62_000) == 1)
        #expect(sent(62_000) == [.command(command(2))])
        #expect(outbox.overdue(nowMilliseconds: 63_000) == 0)
    }

    @Test mutating func `what the socket did not take goes a little later, and nothing overtakes it`() {
        outbox.add(.command(command(1)), .service(.segmenter), receiver: .segmenter)
        let message = sent(1_000)[0]
        outbox.unsend(message, to: segmenter)
        outbox.add(.command(command(2)), .service(.segmenter), receiver: .segmenter)
        #expect(outbox.nextTryMilliseconds == 1_020)
        #expect(sent(1_019) == [])
        #expect(sent(1_020) == [.command(command(1)), .command(command(2))])
        #expect(outbox.used(at: segmenter)[.commands] == 2)
    }

    // MARK: Cost

    @Test mutating func `the cost of a message does not grow with what is kept`() {
        // A scan for each message would be 40,000 times 40,000 steps, and take minutes.
        let count: Int64 = 40_000
        peers = Peers()
        hear(limiter, Windows(targets: .max / 4))
        hear(gateway, Windows(pushes: .max / 4))
        for device in 0..<count {
            outbox.add(targets([target(device)]), .instance(limiter), receiver: .rateLimiter)
            #expect(outbox.overdue(nowMilliseconds: device / 1_000) == 0)
            #expect(sent(device / 1_000).count == 1)
        }
        // Some that wait for an instance that is not there must not cost either.
        for device in 0..<count {
            outbox.add(
                pushes([device + count]), .instance(InstanceName(.apnsGateway, 9)), receiver: .apnsGateway)
        }
        for device in 0..<count {
            outbox.answered([key(device)])
            #expect(sent(1_000).isEmpty)
        }
        #expect(outbox.count == Int(count))
    }
}
