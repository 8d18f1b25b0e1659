import Glibc
import HTTP2
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ResolverTests {
    private func collect(_ resolver: Resolver, _ count: Int, _ loop: Loop) throws -> [Resolver.Answer] {
        loop.parts = [resolver]
        var answers: [Resolver.Answer] = []
        loop.afterTurn = { answers += resolver.drainAnswers() }
        try loop.run { answers.count == count }
        return answers
    }

    @Test func `a name becomes numeric addresses`() throws {
        let resolver = Resolver()
        let loop = Loop()
        resolver.resolve(token: 3, host: "localhost", nowMilliseconds: loop.now, timeoutMilliseconds: 5_000)
        let answers = try collect(resolver, 1, loop)
        #expect(answers[0].token == 3)
        guard case .addresses(let list) = answers[0].outcome else {
            Issue.record("no addresses: \(answers[0])")
            return
        }
        #expect(list.contains("127.0.0.1") || list.contains("::1"))
        #expect(resolver.nextDeadlineMilliseconds == nil)
    }

    @Test func `a failure carries the text of the resolver`() throws {
        let resolver = Resolver { .failed("no such name: \($0)") }
        let loop = Loop()
        resolver.resolve(token: 1, host: "x.invalid", nowMilliseconds: loop.now, timeoutMilliseconds: 5_000)
        let answers = try collect(resolver, 1, loop)
        #expect(
            answers == [
                Resolver.Answer(token: 1, outcome: .failed("no such name: x.invalid"))
            ])
    }

    @Test func `a look-up that hangs meets its deadline and delays no other`() throws {
        let gate = Gate()
        let resolver = Resolver { host in
            if host == "slow" { gate.wait() }
            return .addresses([host])
        }
        let loop = Loop()
        resolver.resolve(token: 1, host: "slow", nowMilliseconds: loop.now, timeoutMilliseconds: 60_000)
        resolver.resolve(token: 2, host: "fast", nowMilliseconds: loop.now, timeoutMilliseconds: 60_000)
        let first = try collect(resolver, 1, loop)
        #expect(first.map(\.token) == [2])
        loop.skip(milliseconds: 60_000)
        let second = try collect(resolver, 1, loop)
        #expect(second == [Resolver.Answer(token: 1, outcome: .deadline)])
        gate.open()
    }

    @Test func `more look-ups than threads wait for their turn`() throws {
        let resolver = Resolver { .addresses([$0]) }
        let loop = Loop()
        for token in 1...30 {
            resolver.resolve(
                token: token, host: "h\(token)", nowMilliseconds: loop.now, timeoutMilliseconds: 5_000)
        }
        let answers = try collect(resolver, 30, loop)
        #expect(answers.map(\.token).sorted() == Array(1...30))
    }
}

/// A pipe that a thread waits at until it is opened.
private final class Gate: Sendable {
    private let ends: (CInt, CInt)

    init() {
        var pair: [CInt] = [0, 0]
        pipe(&pair)
        ends = (pair[0], pair[1])
    }

    func wait() {
        var byte: UInt8 = 0
        _ = read(ends.0, &byte, 1)
        Glibc.close(ends.0)
    }

    func open() { Glibc.close(ends.1) }
}
