import Contracts
import Foundation
import Service
import Store

@testable import ingest
@testable import segmenter

/// The filter language: a fault stands within the text, a filter means the same when it is printed and read again or
/// sent to another service, and every device is either among those that it matches or among the others.
struct FilterTarget: FuzzTarget {
    private static let application = "AAAAA-00001"
    private static let now = Moment(monotonic: 1_000, wall: 1_700_000_000_000)
    private static let devices: [[String: TagValue]] = [
        ["Level": .integer(4), "City": .string("Köln"), "a": .integer(1), "T": .string("2026-01-31")],
        ["Level": .number(2.5), "City": .list(["Paris", "x"]), "b": .integer(2), "e": .boolean(true)],
        ["c": .string("true"), "d": .string("2026-02-01"), "f": .list([])],
        [:],
    ]
    private let profiles: Profiles

    init() throws {
        var profiles = try Profiles(.memory)
        var segmenter = Segmenter(epoch: 1)
        try profiles.begin()
        for (number, tags) in FilterTarget.devices.enumerated() {
            var profile = Profile()
            profile.tags = tags.mapValues(TagChange.set)
            let registration = Registration(
                sequence: Int64(number + 1), application: FilterTarget.application, device: "d\(number)",
                change: .profile(profile), acceptedAtMilliseconds: FilterTarget.now.wall)
            _ = try segmenter.step(
                .message(.registration(registration), from: Sender(InstanceName(.ingest), epoch: 1)),
                at: FilterTarget.now, in: &profiles)
        }
        try profiles.commit()
        self.profiles = profiles
        let all = try count(.everyone)
        hold(all == FilterTarget.devices.count, "\(all) devices are there")
    }

    func feed(_ input: [UInt8]) throws {
        let text = String(decoding: input, as: UTF8.self)
        do {
            let filter = try FilterExpression.parse(text, application: FilterTarget.application)
            try check(filter)
        } catch let fault as FilterFault {
            hold((0...text.utf8.count).contains(fault.offset), "\(fault.text), of \(text.utf8.count) bytes")
        }
    }

    private func check(_ filter: Filter) throws {
        let printed = filter.expression(application: FilterTarget.application)
        do {
            let again = try FilterExpression.parse(printed, application: FilterTarget.application)
            hold(again == filter, "printed as \(printed) it means something else")
        } catch {
            // Parentheses and longer spellings count too.
            hold(
                printed.utf8.count > FilterLimits.bytesMax || error.problem.contains("parentheses are open"),
                "printed as \(printed) it is refused: \(error.text)")
        }
        let sent = try JSONEncoder().encode(filter)
        hold(try JSONDecoder().decode(Filter.self, from: sent) == filter, "sent on it means something else")
        let (matched, others) = (try count(filter), try count(.except(.everyone, minus: filter)))
        hold(matched + others == FilterTarget.devices.count, "\(matched) match and \(others) do not")
    }

    /// How many devices a filter matches.
    private func count(_ filter: Filter) throws -> Int {
        var reading = try AudienceReading(
            filter, application: FilterTarget.application, joinedMax: .max,
            nowMilliseconds: FilterTarget.now.wall, in: profiles)
        while !reading.isComplete { _ = try reading.advance(rowsMax: 1_000) }
        return reading.foundCount
    }
}
