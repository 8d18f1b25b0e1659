import Store
import Testing

@testable import Service
@testable import ingest

/// What stands between a request and its answer: the commit of the journal.
@Suite(.timeLimit(.minutes(10))) struct GroupCommitTests {
    private func callers(_ count: Int, _ bench: LoopBench) throws -> [RawCaller] {
        try (0..<count).map { number in
            let caller = try RawCaller(port: bench.port)
            caller.write(LoopBench.start("order-\(number)"))
            return caller
        }
    }

    @Test func `when the commit fails everybody is answered 503, nobody 200, and nothing is stored`() throws {
        try withDirectory { directory in
            let bench = try LoopBench(directory: directory)
            try bench.run([]) { !bench.loop.node.isAbandoned }
            let database = bench.loop.store.database
            // A constraint that SQLite looks at only when it commits: until then all goes well.
            for statement in [
                "PRAGMA foreign_keys = ON", "CREATE TABLE none (id INTEGER PRIMARY KEY)",
                "CREATE TABLE wrong (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED)",
                "CREATE TRIGGER refuse AFTER INSERT ON messages BEGIN INSERT INTO wrong VALUES (1); END",
            ] { try database.run(SQL(statement)) }
            let refused = try callers(20, bench)
            try bench.run(refused) { refused.allSatisfy { !$0.statuses.isEmpty } }
            #expect(refused.allSatisfy { $0.statuses == ["503"] })
            #expect(refused.allSatisfy { $0.received.contains("nothing was accepted") })
            #expect(try bench.count("messages") == 0)
            #expect(try bench.count("runs") == 0)

            try database.run("DROP TRIGGER refuse")
            try bench.run([]) { !bench.loop.recovery.isWaiting }
            for (number, caller) in refused.enumerated() { caller.write(LoopBench.start("order-\(number)")) }
            try bench.run(refused) { refused.allSatisfy { $0.statuses.count == 2 } }
            #expect(refused.allSatisfy { $0.statuses == ["503", "200"] })
            #expect(try bench.count("messages") == 20)
        }
    }

    @Test func `requests that have arrived together share one commit`() throws {
        try withDirectory { directory in
            let bench = try LoopBench(directory: directory)
            try bench.run([]) { !bench.loop.node.isAbandoned }
            // The last sequence is stored once by each commit in which one was given out.
            try bench.loop.store.database.run("CREATE TABLE commits (id INTEGER PRIMARY KEY)")
            try bench.loop.store.database.run(
                "CREATE TRIGGER note AFTER UPDATE ON meta BEGIN INSERT INTO commits VALUES (NULL); END")
            let callers = try callers(60, bench)
            try bench.run(callers) { callers.allSatisfy { $0.statuses == ["200"] } }
            #expect(try bench.count("messages") == 60)
            let commits = try #require(try bench.count("commits"))
            #expect((1...5).contains(commits))
        }
    }
}
