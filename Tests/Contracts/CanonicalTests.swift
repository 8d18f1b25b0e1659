import Foundation
import Testing

@testable import Contracts

/// The quick way of writing and reading must do what the usual coders do, or give way to them.
@Suite struct CanonicalTests {
    private let encoder = JSONEncoder()
    private let coder = ParcelCoder()

    init() {
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    private func usual(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode([value]), as: UTF8.self)
    }

    private func quick(_ message: Message) -> String? {
        CanonicalWriter.bodies([message]) { _ in throw CocoaError(.coderInvalidValue) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func read(_ type: MessageType, _ bytes: [UInt8]) -> [Message]? {
        CanonicalReader.bodies(type, bytes) { try? JSONDecoder().decode(Command.self, from: Data($0)) }
    }

    /// Calls with all ways of leaving out some of so many optional members, or many of these ways by chance.
    private func combinations(_ count: Int, _ body: ((Int) -> Bool) throws -> Void) throws {
        var random = SplitMix(state: 11)
        for index in 0..<512 {
            let bits = index == 0 ? 0 : index == 1 ? UInt64.max : random.next()
            try body { bits >> UInt64($0) & 1 == 1 }
        }
    }

    private func notification(_ has: (Int) -> Bool) -> Contracts.Notification {
        var notification = Contracts.Notification(event: .end, priority: 10, expirationSeconds: -1)
        if has(0) { notification.apnsID = "00000000-0000-4000-8000-000000000001" }
        if has(1) { notification.attributesType = "Straße/型" }
        if has(2) { notification.collapseID = "c" }
        if has(3) { notification.dismissalDateSeconds = .max }
        if has(4) { notification.fallback = .init(title: has(5) ? "T" : nil, body: "👩‍👩‍👧‍👦") }
        if has(6) { notification.inputPushChannel = "ab+/=" }
        if has(7) { notification.inputPushToken = "1" }
        if has(8) { notification.relevanceScore = "1e400" }
        if has(9) { notification.staleDateSeconds = .min }
        if has(10) { notification.timestampSeconds = 0 }
        return notification
    }

    @Test func `targets and pushes are written as usual, and read back`() throws {
        try combinations(14) { (has: (Int) -> Bool) throws in
            var target = target
            if has(11) { target.collapseID = nil }
            if has(12) { target.wireTimestampSeconds = nil }
            if has(13) { target.pace = Pace() }
            let targets = Targets(
                application: "A", notification: notification(has), targets: [target, target],
                payload: Payload())
            let pushes = Pushes(
                application: "A", notification: notification(has),
                pushes: [Push(target, timestampSeconds: 5)], payload: Payload())
            #expect(try quick(.targets(targets)) == usual(targets))
            #expect(try quick(.pushes(pushes)) == usual(pushes))
            #expect(try read(.targets, Array(usual(targets).utf8)) == [.targets(targets)])
            #expect(try read(.pushes, Array(usual(pushes).utf8)) == [.pushes(pushes)])
        }
    }

    @Test func `reports are written as usual, and read back`() throws {
        try combinations(9) { (has: (Int) -> Bool) throws in
            var report = Report(
                id: pushID, attempt: .max, application: "A", environment: .production, result: .superseded)
            if has(0) { report.apnsTimestampMilliseconds = 1 }
            if has(1) { report.priority = 5 }
            if has(2) { report.reason = "BadDeviceToken" }
            if has(3) { report.retryAtMilliseconds = 2 }
            if has(4) { report.sentAtMilliseconds = 3 }
            if has(5) { report.status = 400 }
            if has(6) { report.supersededBy = PushID(message: .min, device: .max) }
            if has(7) { report.token = "00ff" }
            if has(8) { report.wireTimestampSeconds = 4 }
            #expect(try quick(.report(report)) == usual(report))
            #expect(try read(.report, Array(usual(report).utf8)) == [.report(report)])
        }
    }

    private func audience(_ has: (Int) -> Bool) -> Audience {
        if has(13) { return has(14) ? .devices(["dev-1", "日本"]) : .users([]) }
        if has(14) { return has(15) ? .filter(.everyone) : .token("00ff") }
        return .activity
    }

    @Test func `commands and batches are written as usual, and read back`() throws {
        try combinations(16) { (has: (Int) -> Bool) throws in
            var command = command(audience(has))
            if has(11) { command.notification = notification(has) }
            if has(12) { command.cancelledMessage = 1 }
            if has(0) { command.environment = .sandbox }
            let batch = Batch(
                pass: pass, index: 3, last: has(1), recipients: has(2) ? [] : ["a", "b"], command: command)
            #expect(try quick(.command(command)) == usual(command))
            #expect(try quick(.batch(batch)) == usual(batch))
            #expect(try read(.command, Array(usual(command).utf8)) == [.command(command)])
            #expect(try read(.batch, Array(usual(batch).utf8)) == [.batch(batch)])
        }
    }

    private func command(_ audience: Audience) -> Command {
        Command(
            sequence: 9, application: "A", kind: .update, run: 7, activity: "order-1", order: order,
            acceptedAtMilliseconds: 0, audience: audience)
    }

    @Test func `a batch for a filter is written around its command`() throws {
        let batch = Batch(pass: pass, index: 0, last: true, recipients: ["}\u{E9}", "{"], command: start)
        #expect(quick(.batch(batch)) == nil)
        let frames = try coder.frames(parcel([.batch(batch)]))
        #expect(try String(decoding: frames[1], as: UTF8.self) == usual(batch))
        var read = batch
        read.command.payload = Payload()
        #expect(self.read(.batch, frames[1]) == [.batch(read)])
    }

    @Test(
        arguments: [
            .activityToken(activityToken), .startToken(startToken), .startToken(StartToken(token: "00")),
            .startToken(StartToken(token: "", attributesType: "A")), .unregister,
            .startToken(StartToken(token: "00", registeredAtSeconds: 3)),
            .activityToken(ActivityToken(token: "00", activity: "a", run: 1, registeredAtSeconds: 3)),
        ] as [Registration.Change])
    func `registrations of tokens are written as usual, and read back`(change: Registration.Change) throws {
        let registration = registration(change)
        #expect(try quick(.registration(registration)) == usual(registration))
        #expect(try read(.registration, Array(usual(registration).utf8)) == [.registration(registration)])
    }

    @Test func `profiles are written as usual, and read back`() throws {
        try combinations(11) { (has: (Int) -> Bool) throws in
            var profile = Profile()
            if has(0) { profile.appVersion = "1.0/é" }
            if has(1) { profile.deviceModel = "iPhone15,2" }
            if has(2) { profile.deviceType = 1 }
            if has(3) { profile.environment = .production }
            if has(4) { profile.frequentPushes = has(5) }
            if has(5) { profile.language = "" }
            if has(6) { profile.osVersion = "17.2" }
            if has(7) { profile.pushToken = "00ff" }
            if has(8) { profile.tags = has(9) ? [:] : tagChanges }
            if has(9) { profile.timezoneSeconds = .min }
            if has(10) { profile.user = "Zoë" }
            let group = RegistrationGroup(
                sequence: 1, application: "A", acceptedAtMilliseconds: 2,
                entries: [
                    .init(sequence: 1, device: "d", change: .profile(profile)),
                    .init(sequence: 2, device: "d", change: .startToken(startToken)),
                ])
            #expect(try quick(.registrations(group)) == usual(group))
            #expect(try read(.registrations, Array(usual(group).utf8)) == [.registrations(group)])
        }
    }

    @Test(
        arguments: [
            .string(""), .string("Ä/b"), .integer(.min), .boolean(false), .list([]), .list(["a", "b"]),
            .number(0.1), .number(-123.456), .number(0.001), .number(1.7e-5), .number(1e300), .number(2),
            .string("\""), .list(["\n"]),
        ] as [TagValue])
    func `tags of every kind are written as usual, or left to the usual coders`(value: TagValue) throws {
        let changes: [TagChange] = [.set(value), .increment(value), .remove]
        for change in changes {
            let registration = registration(
                .tags(["Aa": change, "B b": .remove, "ab": .remove, "b": change]))
            let frames = try coder.frames(parcel([.registration(registration)]))
            #expect(try String(decoding: frames[1], as: UTF8.self) == usual(registration))
            if case .number(2) = value { continue }
            #expect(try coder.parcel(frames).messages == [.registration(registration)])
        }
    }

    @Test(arguments: ["-.5", "00.5", "--0.5", "0.5.1", "5.", "1.0", "0.5e1", "0,5", "."])
    func `what is no plain fraction is none`(text: String) {
        var reader = CanonicalReader(Array(text.utf8))
        #expect(reader.fraction() == nil || !reader.isAtEnd)
    }

    @Test func `users and tags alone are written as usual, and read back`() throws {
        for change in [.user("user 7"), .user(""), .tags(tagChanges), .tags([:])] as [Registration.Change] {
            let registration = registration(change)
            #expect(try quick(.registration(registration)) == usual(registration))
            #expect(try read(.registration, Array(usual(registration).utf8)) == [.registration(registration)])
        }
    }

    @Test func `what the registry says is written as usual, and read back`() throws {
        let taken: [Taken] = [
            .command(message: .min), .batch(message: 7, pass: pass, index: 0),
            .registration(sequence: 8, by: .tokenRegistry),
        ]
        for taken in taken {
            #expect(try quick(.taken(taken)) == usual(taken))
            #expect(try read(.taken, Array(usual(taken).utf8)) == [.taken(taken)])
        }
        #expect(try quick(.settled(settled)) == usual(settled))
        #expect(try read(.settled, Array(usual(settled).utf8)) == [.settled(settled)])
    }

    @Test(arguments: [0, 9, 10, 99, 100, 999_999_999_999_999_999, .max, -1, -10, .min] as [Int64])
    func `numbers have all their digits`(number: Int64) {
        var writer = CanonicalWriter()
        writer.number(number)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "\(number)")
        var reader = CanonicalReader(writer.bytes)
        #expect(reader.number(Int64.self) == number)
        var largest = CanonicalWriter()
        largest.number(UInt64.max)
        #expect(String(decoding: largest.bytes, as: UTF8.self) == "\(UInt64.max)")
    }

    @Test func `notes of every key are written as usual, and read back`() throws {
        for noted in [Noted(custodyKeys), Noted([]), Noted([.fact(number: .min)])] {
            #expect(try quick(.noted(noted)) == usual(noted))
            #expect(try read(.noted, Array(usual(noted).utf8)) == [.noted(noted)])
        }
    }

    @Test(arguments: ["quote \"", "back \\ slash", "line\n", "\u{7F}", "\u{0}"])
    func `what JSON escapes is left to the usual coders`(text: String) throws {
        var report = fullReport
        report.reason = text
        #expect(quick(.report(report)) == nil)
        let frames = try coder.frames(parcel([.report(report)]))
        #expect(read(.report, frames[1]) == nil)
        #expect(try coder.parcel(frames).messages == [.report(report)])
    }

    @Test(arguments: [
        (#"{"device":1, "message":2}"#, false), (#"{"message":2,"device":1}"#, false),
        (#"{"device":1,"message":2}"#, true), (#"{"device":01,"message":2}"#, false),
        (#"{"device":-0,"message":2}"#, false), (#"{"device":1.0,"message":2}"#, false),
        (#"{"device":1e1,"message":2}"#, false), (#"{"device":9223372036854775808,"message":2}"#, false),
        (#"{"device":-9223372036854775808,"message":2}"#, true), (#"{"device":,"message":2}"#, false),
        (#"{"device":1,"message":2,"more":3}"#, false), (#"{"device":1,"message":2"#, false),
    ])
    func `only what is written here is read here`(text: String, isRead: Bool) {
        var reader = CanonicalReader(Array(text.utf8))
        #expect((PushID(from: &reader) != nil) == isRead)
    }

    @Test func `other members, order and spaces are read by the usual decoder`() throws {
        let frames = try coder.frames(parcel([.report(fullReport)]))
        let text = String(decoding: frames[1], as: UTF8.self)
        let changed = text.replacing("[{", with: #"[ {"new": [1, {}], "#)
        #expect(try coder.parcel([frames[0], Array(changed.utf8)]).messages == [.report(fullReport)])
        let head = String(decoding: frames[0], as: UTF8.self).replacing(
            "{\"from", with: "{ \"hops\":[], \"from")
        #expect(try coder.parcel([Array(head.utf8), frames[1]]).envelope == parcel([]).envelope(of: .report))
    }

    @Test(arguments: samples.map(\.name))
    func `what is garbled is never read otherwise than the usual decoder reads it`(name: String) throws {
        let sample = try #require(samples.first { $0.name == name })
        let type = sample.messages[0].type
        let bytes = try coder.frames(parcel(sample.messages))[1]
        guard read(type, bytes) != nil else { return }
        var random = SplitMix(state: 5)
        var count = 0
        for _ in 0..<1_500 {
            var garbled = bytes
            let place = Int.random(in: 0..<garbled.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: garbled[place] = UInt8.random(in: 0x20...0xFF, using: &random)
            case 1: garbled.insert(UInt8.random(in: 0x20...0x7E, using: &random), at: place)
            default: garbled.remove(at: place)
            }
            guard let quick = read(type, garbled) else { continue }
            count += 1
            #expect(try coder.decodeBodies(type, Data(garbled)) == quick)
        }
        #expect(count > 0)
    }
}

extension Parcel {
    fileprivate func envelope(of type: MessageType) -> Envelope {
        var envelope = envelope
        envelope.type = type
        return envelope
    }
}
