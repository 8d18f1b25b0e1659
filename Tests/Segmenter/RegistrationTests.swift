import Contracts
import Testing

@testable import segmenter

@Suite struct `Registrations of profiles` {
    private func tags(_ bench: inout Bench, _ device: String = "a") throws -> [String: TagValue]? {
        guard
            case .answer(let answer)? = try bench.tell(
                .query(Query(id: 1, application: "A", kind: .tags(device: device)))
            )
            .first,
            case .tags(let values) = answer.content
        else { return nil }
        return values
    }

    @Test func `each is answered with taken, and again when it comes twice`() throws {
        var bench = try Bench()
        let first = try bench.register("a", .tags(["n": .increment(.integer(2))]), sequence: 10)
        let again = try bench.register("a", .tags(["n": .increment(.integer(2))]), sequence: 10)
        #expect(first == [.taken(.registration(sequence: 10, by: .segmenter))])
        #expect(again == first)
        #expect(try tags(&bench) == ["n": .integer(2)])
    }

    @Test func `a group is answered as one, and changes something once`() throws {
        var bench = try Bench()
        var (first, second) = (Profile(), Profile())
        first.tags = ["n": .increment(.integer(2)), "city": .set(.string("Rome"))]
        first.user = "u"
        second.tags = ["n": .increment(.integer(3))]
        let group = RegistrationGroup(
            sequence: 10, application: "A", acceptedAtMilliseconds: 0,
            entries: [
                .init(sequence: 10, device: "a", change: .profile(first)),
                .init(sequence: 11, device: "b", change: .profile(first)),
                .init(sequence: 12, device: "a", change: .profile(second)),
            ])
        for _ in 0..<2 {
            let answers = try bench.tell(.registrations(group))
            #expect(answers == [.taken(.registration(sequence: 10, by: .segmenter))])
            #expect(try tags(&bench) == ["n": .integer(5), "city": .string("Rome")])
            #expect(try tags(&bench, "b")?["n"] == .integer(2))
        }
        try bench.register("a", .tags(["city": .set(.string("Pisa"))]), sequence: 13)
        _ = try bench.tell(.registrations(group))
        #expect(try tags(&bench)?["city"] == .string("Pisa"))
    }

    @Test func `an increment raises a number, and counts from 0 for what is none`() throws {
        var bench = try Bench()
        try bench.register("a", .tags(["n": .set(.integer(5)), "t": .set(.string("x"))]))
        try bench.register(
            "a",
            .tags([
                "n": .increment(.integer(-2)), "t": .increment(.number(1.5)), "new": .increment(.integer(1)),
            ]))
        #expect(try tags(&bench) == ["n": .integer(3), "t": .number(1.5), "new": .integer(1)])
        try bench.register("a", .tags(["n": .set(.integer(.max))]))
        try bench.register("a", .tags(["n": .increment(.integer(1))]))
        #expect(try tags(&bench)?["n"] == .number(Double(Int64.max) + 1))
    }

    @Test func `an older change comes late and changes nothing, also after the tag was removed`() throws {
        var bench = try Bench()
        try bench.register("a", .tags(["t": .set(.string("new"))]), sequence: 20)
        try bench.register("a", .tags(["t": .set(.string("old"))]), sequence: 19)
        #expect(try tags(&bench) == ["t": .string("new")])
        try bench.register("a", .tags(["t": .remove]), sequence: 22)
        try bench.register("a", .tags(["t": .set(.string("old"))]), sequence: 21)
        #expect(try tags(&bench) == [:])
    }

    @Test func `a profile keeps what the next one leaves out`() throws {
        var bench = try Bench()
        var full = Profile()
        full.pushToken = "aa"
        full.user = "u"
        full.tags = ["t": .set(.boolean(true))]
        try bench.register("a", .profile(full))
        try bench.register("a", .profile(Profile()))
        _ = try bench.tell(.command(bench.command(.devices(["AA"]))))
        _ = try bench.tell(.command(bench.command(.users(["u"]))))
        #expect(try bench.drain().flatMap(\.recipients) == ["a", "a"])
        #expect(try tags(&bench) == ["t": .boolean(true)])
    }

    @Test func `a push token belongs to who registered it last, a device to its last user`() throws {
        var bench = try Bench()
        var profile = Profile()
        profile.pushToken = "aa"
        profile.user = "u"
        try bench.register("a", .profile(profile))
        try bench.register("b", .profile(profile))
        try bench.register("a", .user("v"))
        _ = try bench.tell(.command(bench.command(.devices(["aa"]))))
        _ = try bench.tell(.command(bench.command(.users(["u"]))))
        #expect(try bench.drain().map(\.recipients) == [["b"], ["b"]])
    }

    @Test func `a token registration is not for the segmenter`() throws {
        var bench = try Bench()
        #expect(try bench.register("a", .startToken(StartToken(token: "aa"))).isEmpty)
    }
}
