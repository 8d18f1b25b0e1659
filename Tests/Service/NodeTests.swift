import Contracts
import Store
import Testing

@testable import Service

@Suite struct NodeTests {
    var node = Node(core: ToySegmenter(), life: Sender(segmenter, epoch: 42))
    var store = ToyStore()
    var now = Moment(monotonic: 1_000_000, wall: 1_700_000_000_000)

    private func parcel(_ messages: [Message], from instance: InstanceName, epoch: Int64 = 1) -> Parcel {
        Parcel(
            envelope: Envelope(
                type: messages[0].type, id: 1, from: Sender(instance, epoch: epoch), sentAtMilliseconds: 0),
            messages: messages)
    }

    /// One round: what arrived, a turn, the commit.
    @discardableResult
    private mutating func round(
        _ parcels: [Parcel] = [], drained: Bool = true, after milliseconds: Int64 = 0
    ) throws -> Node<ToySegmenter>.Actions {
        now = now.advanced(byMilliseconds: milliseconds)
        try store.begin()
        for parcel in parcels { try node.receive(parcel, at: now, in: &store) }
        try node.turn(drained: drained, at: now, in: &store)
        try store.commit()
        return node.commit(at: now)
    }

    private func hearing(_ instance: InstanceName, epoch: Int64 = 1) -> Parcel {
        parcel([.hello(hello())], from: instance, epoch: epoch)
    }

    @Test mutating func `the first commit says hello, and then each second does`() throws {
        #expect(node.nextTurnMilliseconds(after: now) == 0)
        let first = try round()
        #expect(first.hello?.messages == [.hello(hello())])
        #expect(first.hello?.envelope.from == Sender(segmenter, epoch: 42))
        #expect(node.nextTurnMilliseconds(after: now) == 1_000)
        #expect(try round(after: 999).hello == nil)
        #expect(try round(after: 1).hello != nil)
    }

    @Test mutating func `nothing is sent to who has not said hello`() throws {
        let alone = try round([parcel([.command(command(1))], from: ingest)])
        #expect(alone.parcels.isEmpty)
        #expect(alone.counts == [Count("commands", [("kind", "update")])])
        let heard = try round([hearing(registry)])
        #expect(heard.parcels.map(\.to) == [registry])
        #expect(node.keptCount == 1)
    }

    @Test mutating func `what is kept names the life that it is for, an answer names none`() throws {
        let sent = try round([
            hearing(registry, epoch: 5), hearing(ingest),
            parcel(
                [.query(Query(id: 1, application: "AAAAA-00001", kind: .tags(device: "dev-1")))], from: ingest
            ),
            parcel([.command(command(1))], from: ingest),
        ])
        #expect(sent.parcels.first { $0.to == registry }?.parcel.envelope.to == 5)
        #expect(sent.parcels.allSatisfy { $0.to == registry || $0.parcel.envelope.to == nil })
    }

    @Test mutating func `what was meant for another life is dropped`() throws {
        var late = parcel([.command(command(1))], from: ingest)
        late.envelope.to = 41
        let dropped = try round([hearing(registry), late])
        #expect(dropped.parcels.isEmpty)
        #expect(dropped.counts == [Count("misdirected", [("type", "command")])])
        late.envelope.to = 42
        #expect(try round([late]).parcels.map(\.to) == [registry])
    }

    @Test mutating func `an answer ends what was kept`() throws {
        try round([hearing(registry), parcel([.command(command(1))], from: ingest)])
        let taken = Message.taken(.batch(message: 1, pass: Pass(epoch: 1, number: 1), index: 0))
        try round([parcel([taken], from: registry)])
        #expect(node.keptCount == 0)
    }

    @Test mutating func `an answer that was committed without a turn counts, whatever fails then`() throws {
        try round([hearing(registry), parcel([.command(command(1))], from: ingest)])
        let taken = Message.taken(.batch(message: 1, pass: Pass(epoch: 1, number: 1), index: 0))
        try store.begin()
        try node.receive(parcel([taken], from: registry), at: now, in: &store)
        try store.commit()
        _ = node.commit(at: now)
        node.abandon()
        #expect(node.keptCount == 0)
    }

    @Test mutating func `what goes the same way shares a parcel, up to its limits`() throws {
        let commands = (1...6 as ClosedRange<Int64>).map {
            Message.command(command($0, application: "A\($0)"))
        }
        let actions = try round([hearing(registry), parcel(commands, from: ingest)])
        #expect(actions.parcels.count == 1)
        #expect(actions.parcels.first?.parcel.messages.count == 6)
        #expect(actions.parcels.first?.parcel.envelope.type == .batch)
    }

    @Test mutating func `a new life is acted on when all has been read`() throws {
        try round([hearing(registry), parcel([.command(command(1))], from: ingest)])
        let busy = try round([hearing(registry, epoch: 2)], drained: false)
        #expect(busy.parcels.isEmpty)
        let idle = try round()
        #expect(idle.parcels.map(\.parcel.messages.count) == [1])
        #expect(idle.logs.map(\.event) == ["neighbour-restarted"])
        #expect(node.core.told.last == "lost 0 at token-registry.1: newLife")
    }

    @Test mutating func `who is gone is told to the core, and its work goes to another`() throws {
        try round([hearing(registry), parcel([.command(command(1))], from: ingest)])
        try round([hearing(InstanceName(.tokenRegistry, 2))], after: 4_000)
        let gone = try round(after: 0)
        #expect(gone.parcels.isEmpty)
        #expect(node.livingInstances(of: .tokenRegistry) == [InstanceName(.tokenRegistry, 2)])
        #expect(node.core.told.last == "lost 0 at token-registry.1: gone")
        #expect(node.keptCount == 1)
    }

    @Test mutating func `what is unanswered for a minute is sent again with a line in the log`() throws {
        try round([hearing(registry), parcel([.command(command(1))], from: ingest)])
        for _ in 0..<14 { try round([hearing(registry)], after: 4_000) }
        let again = try round([hearing(registry)], after: 4_000)
        #expect(again.parcels.map(\.parcel.messages.count) == [1])
        #expect(again.logs.map(\.event) == ["sent-again"])
    }

    @Test mutating func `what could not be handed over goes with a later commit`() throws {
        let actions = try round([hearing(registry), parcel([.command(command(1))], from: ingest)])
        let (to, parcel) = try #require(actions.parcels.first)
        node.unsend(parcel, to: to)
        #expect(node.nextTurnMilliseconds(after: now) == Outbox.blockedMilliseconds)
        #expect(try round().parcels.isEmpty)
        #expect(
            try round(after: Outbox.blockedMilliseconds).parcels.map(\.parcel.messages) == [parcel.messages])
    }

    @Test mutating func `after a failed transaction nothing of it is done, and hellos go on`() throws {
        try round()
        try store.begin()
        try node.receive(parcel([.command(command(1))], from: ingest), at: now, in: &store)
        try node.receive("event", at: now, in: &store)
        try store.rollback()
        node.abandon()
        now = now.advanced(byMilliseconds: 1_000)
        let idle = node.commit(at: now)
        #expect(idle.outputs.isEmpty && idle.counts.isEmpty && idle.parcels.isEmpty)
        #expect(idle.hello != nil)
        try store.begin()
        try node.restart(ToySegmenter(), at: now, in: &store)
        try store.commit()
        #expect(node.core.told == ["started"])
        #expect(!node.isAbandoned)
    }

    @Test mutating func `a renewed life says hello at once, and takes what was meant for the one before`()
        throws
    {
        try round([hearing(registry)])
        node.renew()
        let hello = try #require(try round().hello)
        #expect(hello.envelope.from.instance == segmenter && hello.envelope.from.epoch != 42)
        for (epoch, command) in [(42, command(1)), (hello.envelope.from.epoch, command(2))] {
            var late = parcel([.command(command)], from: ingest)
            late.envelope.to = epoch
            #expect(try round([late]).parcels.map(\.to) == [registry])
        }
        var stray = parcel([.command(command(3))], from: ingest)
        stray.envelope.to = hello.envelope.from.epoch + 1
        #expect(try round([stray]).counts == [Count("misdirected", [("type", "command")])])
    }

    @Test(arguments: [9_000, -9_000, 3_600_000, -3_600_000] as [Int64])
    mutating func `what was sent before the clock was set goes by the clock as it is now`(step: Int64) throws
    {
        func report(sentAt: Int64, told toldAt: Int64) -> Parcel {
            var report = Report(
                id: PushID(message: 1, device: 1), attempt: 1, application: "A", environment: .production,
                result: .delivered)
            report.sentAtMilliseconds = sentAt
            var parcel = parcel([.report(report)], from: gateway)
            parcel.envelope.sentAtMilliseconds = toldAt
            return parcel
        }
        try round([hearing(registry)])
        let before = now.wall
        now.wall += step
        for delay in [100, 200] as [Int64] {
            try round([report(sentAt: before - 10, told: before)], after: delay)
            #expect(node.core.reports.last?.sentAtMilliseconds == before - 10 + step)
        }
        let after = now.wall
        try round([report(sentAt: after - 50, told: after)], after: 3_000)
        #expect(node.core.reports.last?.sentAtMilliseconds == after - 50)
    }
}
