import Contracts
import Service
import Store
import Testing

@testable import segmenter

/// What is held in memory does not grow with what phones and callers say.
@Suite struct `What is held` {
    @Test func `a user of many devices is read a batch at a time, each device once and none too many`() throws
    {
        var bench = try Bench()
        let names = (0..<1_203).map { "d\($0)" }
        try bench.together { bench in
            for name in names { try bench.register(name, .user("guest")) }
            for name in ["e0", "e1"] { try bench.register(name, .user("other")) }
            try bench.register("d7", .unregister)
        }
        _ = try bench.tell(.command(bench.command(.users(["guest", "nobody", "other", "guest"]))))
        var devices = UserDevices(of: ["guest"], application: 1, joinedMax: .max)
        _ = try devices.take(500, in: bench.profiles.database)
        #expect(devices.heldCount == 1)
        let batches = try bench.drain()
        #expect(batches.map(\.recipients.count) == [500, 500, 204])
        #expect(batches.map(\.last) == [false, false, true])
        let expected = Set(names + ["e0", "e1"]).subtracting(["d7"])
        #expect(Set(batches.flatMap(\.recipients)) == expected)
    }

    @Test(arguments: [0, 1, 499, 500, 501, 1_000])
    func `the last batch of a user says so`(count: Int) throws {
        var bench = try Bench()
        try bench.together { bench in
            for number in 0..<count { try bench.register("d\(number)", .user("u")) }
        }
        _ = try bench.tell(.command(bench.command(.users(["u"]))))
        let batches = try bench.drain()
        #expect(batches.flatMap(\.recipients).count == count)
        #expect(batches.filter(\.last).count == 1 && batches.last?.last == true)
        #expect(batches.count == max(1, (count + 499) / 500))
    }

    @Test func `of a device with very many tags only so many bytes are shown`() throws {
        var bench = try Bench()
        let text = String(repeating: "x", count: 1_000)
        try bench.together { bench in
            for call in 0..<20 {
                var tags: [String: TagChange] = [:]
                for number in 0..<100 { tags["tag-\(call)-\(number)"] = .set(.string(text)) }
                try bench.register("a", .tags(tags))
            }
            try bench.register("b", .tags(["tag-19-99": .set(.list(["x", "y"]))]))
        }
        func shown(_ device: String) throws -> [String: TagValue] {
            guard case .answer(let answer)? = try bench.ask(.tags(device: device)).first,
                case .tags(let tags) = answer.content
            else { return [:] }
            return tags
        }
        let tags = try shown("a")
        #expect((1_000..<1_050).contains(tags.count))
        #expect(tags.values.allSatisfy { $0 == .string(text) })
        #expect(try shown("b") == ["tag-19-99": .list(["x", "y"])])
    }

    @Test func `a list that does not fit is not shown in part`() throws {
        var bench = try Bench()
        let members = (0..<100).map { String(repeating: "x", count: 1_000) + "\($0)" }
        try bench.together { bench in
            for number in 0..<20 { try bench.register("a", .tags(["t\(number)": .set(.list(members))])) }
        }
        guard case .answer(let answer)? = try bench.ask(.tags(device: "a")).first,
            case .tags(let tags) = answer.content
        else {
            Issue.record("no answer")
            return
        }
        #expect(tags.count == 10)
        #expect(tags.values.allSatisfy { $0 == .list(members) })
    }

    @Test func `the conditions of an audience share what is held of their devices`() throws {
        var bench = try Bench()
        let devices = 2_000
        let tags = 40
        try bench.together { bench in
            for device in 0..<devices {
                var changes: [String: TagChange] = [:]
                for tag in 0..<tags { changes["t\(tag)"] = .set(.integer(1)) }
                try bench.register("d\(device)", .tags(changes))
            }
        }
        let filter = Filter.all(
            (0..<tags).map { .tag(name: "t\($0)", comparison: .equal, values: [.integer(1)]) })
        var reading = try AudienceReading(
            filter, application: "A", joinedMax: .max, nowMilliseconds: bench.now.wall, in: bench.profiles)
        _ = try reading.advance(rowsMax: .max)
        #expect(reading.isComplete)
        #expect(reading.foundCount == devices)
        #expect(reading.heldCount <= ConditionReader.heldMax + ConditionReader.fewMax)
    }
}
