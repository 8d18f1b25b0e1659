import Contracts
import Testing

@Suite struct CustodyKeyTests {
    @Test(arguments: custodyKeys)
    func `a key is read from what it is written as`(key: CustodyKey) {
        #expect(CustodyKey(key.description) == key)
    }

    @Test func `the ends of numbers survive`() {
        let ends: [CustodyKey] = [
            .push(PushID(message: .max, device: .min), attempt: .max), .fact(number: -1),
            .batch(message: .min, pass: Pass(epoch: .max, number: .min), index: .min),
        ]
        for key in ends { #expect(CustodyKey(key.description) == key) }
    }

    @Test(arguments: [
        "", ":", "push", "push:1:2", "push:1:2:x", "push:1:2:3:4", "push:1::3", "batch:1:2:3",
        "fact:9223372036854775808", "registration:1:limiter", "registration:1", "taken:", "unknown:1",
        "fact:1:",
    ])
    func `what is no key is none`(text: String) {
        #expect(CustodyKey(text) == nil)
    }
}

/// The rule of custody: for each message that is kept there is one that answers it.
@Suite struct CustodyTests {
    @Test(
        arguments: [
            (
                .registration(registration(.unregister)), .segmenter,
                .taken(.registration(sequence: 8, by: .segmenter))
            ),
            (
                .registrations(group), .tokenRegistry,
                .taken(.registration(sequence: 8, by: .tokenRegistry))
            ),
            (.command(start), .segmenter, .taken(.command(message: 7))),
            (.command(start), .segmenter, .busy(Busy(message: 7))),
            (batch, .tokenRegistry, .taken(.batch(message: 7, pass: pass, index: 1))),
            (batch, .tokenRegistry, .busy(Busy(message: 7, pass: pass, index: 1))),
            (.targets(targets), .rateLimiter, .report(fullReport)),
            (.pushes(pushes), .apnsGateway, .report(fullReport)),
            (.report(fullReport), .tokenRegistry, .noted(Noted([.report(pushID, attempt: 2)]))),
            (.taken(.command(message: 7)), .ingest, .noted(Noted([.taken(message: 7)]))),
            (
                .taken(.registration(sequence: 8, by: .segmenter)), .ingest,
                .noted(Noted([.registered(sequence: 8, by: .segmenter)]))
            ),
            (.settled(settled), .ingest, .noted(Noted([.settled(message: 7, revision: 1)]))),
            (.fact(fact), .ingest, .noted(Noted([.fact(number: 5)]))),
        ] as [(Message, ServiceName, Message)])
    func `what is kept is ended by its answer`(kept: Message, receiver: ServiceName, answer: Message) {
        let keys = kept.keptKeys(receiver: receiver)
        #expect(keys.count == 1)
        #expect(keys == answer.answeredKeys)
        #expect(kept.lane == .work || answer.lane == .answers)
    }

    @Test(
        arguments: [
            (.report(fullReport), .rateLimiter), (.hello(Hello(windows: Windows())), .ingest),
            (.taken(.batch(message: 7, pass: pass, index: 1)), .segmenter),
            (.busy(Busy(message: 7)), .ingest),
            (.retarget(Retarget(id: pushID, attempt: 2, token: "00")), .rateLimiter),
            (.noted(Noted([])), .ingest),
            (.query(Query(id: 1, application: "A", kind: queries[0])), .segmenter),
            (.answer(Answer(id: 1, content: answers[0])), .ingest),
        ] as [(Message, ServiceName)])
    func `what is sent once is not kept`(message: Message, receiver: ServiceName) {
        #expect(message.keptKeys(receiver: receiver).isEmpty)
    }

    @Test func `a group counts as many registrations, and gives each receiver its own`() {
        #expect(Message.registrations(group).window?.count == 2)
        #expect(Message.registrations(group).account == "AAAAA-00001")
        #expect(group.restricted(to: .segmenter)?.entries.map(\.sequence) == [8])
        #expect(group.restricted(to: .tokenRegistry) == group)
        #expect(group.restricted(to: .rateLimiter) == nil)
        #expect(group.registrations.map(\.sequence) == [8, 9])
        var empty = group
        empty.entries = []
        #expect(!Message.registrations(empty).isPlausible)
    }

    @Test func `answered pieces are left out, and a message without pieces is none`() throws {
        var other = target
        other.id = PushID(message: 7, device: 12)
        var both = targets
        both.targets.append(other)
        #expect(Message.targets(both).restricted { $0.device == 11 } == .targets(targets))
        #expect(Message.targets(both).restricted { _ in false } == nil)
        #expect(Message.pushes(pushes).restricted { _ in false } == nil)
        #expect(Message.command(start).restricted { _ in false } == .command(start))
        #expect(Message.targets(both).window?.count == 2)
        #expect(Message.targets(both).account == "AAAAA-00001 production")
    }
}

private let batch = Message.batch(
    Batch(pass: pass, index: 1, last: true, recipients: [], command: start))
