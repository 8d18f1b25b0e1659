import Contracts
import JSON
import Service
import Store
import Testing

@testable import ingest

/// What happens when room, disk or memory run out.
@Suite struct LimitTests {
    private func limits(_ change: (inout IngestLimits) -> Void) -> IngestLimits {
        var limits = IngestLimits()
        limits.applicationShare = 1
        change(&limits)
        return limits
    }

    @Test func `when too much waits callers are asked to come again, and registrations go on`() throws {
        let bench = try Bench(limits: limits { $0.commandsMax = 1 })
        try bench.start()
        let refused = try bench.update()
        #expect(refused.status == 503)
        #expect(refused.code == 503)
        #expect(refused.header("Retry-After") == "5")
        let fcm = try bench.fcm(Bench.fcmUpdate)
        #expect(fcm.status == 503)
        #expect(fcm.errorStatus == "UNAVAILABLE")
        #expect(fcm.header("Retry-After") == "5")
        #expect(try bench.activityToken(Bench.tokA).code == 200)
        #expect(try bench.start().code == 200, "the retry of an accepted start is answered as before")
        _ = try bench.drain()
        #expect(try bench.update().code == 200)
    }

    @Test func `one application's backlog is not another's`() throws {
        var limits = IngestLimits()
        limits.commandsMax = 4
        let bench = try Bench(limits: limits)
        try bench.start()
        #expect(try bench.update().status == 503)
        #expect(try bench.fcm(Bench.fcmStart, token: "k-other", project: "other").status == 200)
    }

    @Test func `bytes count too, and after a restart all the same`() throws {
        let bench = try Bench(limits: limits { $0.commandBytesMax = 400 })
        try bench.start()
        #expect(try bench.update().code == 200)
        #expect(try bench.update().status == 503)
        try bench.restart()
        #expect(try bench.update().status == 503)
        _ = try bench.drain()
        #expect(bench.core.backlog.total == Backlog.Held())
        #expect(bench.core.release.count == 0)
        #expect(try bench.update().code == 200)
    }

    @Test func `too many registrations are refused as well`() throws {
        let bench = try Bench(limits: limits { $0.registrationsMax = 1 })
        try bench.activityToken(Bench.tokA)
        let reply = try bench.activityToken(Bench.tokB)
        #expect(reply.status == 503)
        #expect(reply.header("Retry-After") == "5")
        _ = try bench.drain()
        #expect(try bench.activityToken(Bench.tokB).code == 200)
    }

    @Test func `the last of the disk is for registrations`() throws {
        let bench = try Bench()
        try bench.step(.external(.disk(freeBytes: 1 << 30, sizeBytes: 1 << 31)))
        #expect(try bench.start().code == 200)
        try bench.step(.external(.disk(freeBytes: (16 << 20) - 1, sizeBytes: 1 << 31)))
        let reply = try bench.update()
        #expect(reply.status == 503)
        #expect(reply.statusMessage == "storage is nearly full")
        #expect(try bench.call("GET", "/readyz").status == 200, "or phones could not register either")
        #expect(try bench.activityToken(Bench.tokA).code == 200)
        try bench.step(.external(.disk(freeBytes: 16 << 20, sizeBytes: 1 << 31)))
        #expect(try bench.update().code == 200)
    }

    @Test func `a small disk has a small reserve`() throws {
        let bench = try Bench()
        try bench.step(.external(.disk(freeBytes: 1 << 19, sizeBytes: 4 << 20)))
        #expect(try bench.start().code == 200)
        try bench.step(.external(.disk(freeBytes: (1 << 19) - 1, sizeBytes: 4 << 20)))
        #expect(try bench.update().status == 503)
    }

    @Test func `a transaction that fails is answered by each door as its storage's failure`() {
        func reply(_ path: [String]) -> HTTPReply {
            Door.storageFailure(HTTPCall(id: 1, method: "POST", path: path), problem: "storage is full")
        }
        let pushwoosh = reply(["json", "1.3", "startLiveActivity"])
        #expect(pushwoosh.status == 503)
        #expect(pushwoosh.code == 503)
        #expect(pushwoosh.statusMessage == "storage is full; nothing was accepted")
        let firebase = reply(["v1", "projects", "demo", "messages:send"])
        #expect(firebase.errorStatus == "UNAVAILABLE")
        #expect(reply(["v1", "messages", "x"]).status == 503)
    }

    /// The nth statement of a start fails, for every n: nothing is accepted, and the next call works.
    @Test func `whatever fails in the store, nothing of the call is kept`() throws {
        let bench = try Bench()
        try bench.journal.database.run("CREATE TEMP TABLE fuse (n INTEGER)")
        for table in ["messages", "commands", "runs"] {
            try bench.journal.database.run(
                SQL(
                    "CREATE TEMP TRIGGER t_\(table) BEFORE INSERT ON main.\(table) BEGIN SELECT raise(ABORT, 'fuse'); END"
                ))
            #expect(throws: StoreError.self) { try bench.start() }
            try bench.journal.rollback()
            try bench.restart()
            try bench.journal.database.run(SQL("DROP TRIGGER t_\(table)"))
            #expect(try bench.turn().isEmpty)
        }
        #expect(try bench.start().code == 200)
        #expect(try bench.turn().commands.map(\.sequence) == [1])
    }

    @Test func `a full disk keeps nothing of the call, and room makes it work again`() throws {
        let bench = try Bench()
        let code = try #require(try bench.start().codes.first)
        let pages = try bench.journal.database.first("PRAGMA page_count") { $0.int(0) } ?? 0
        try bench.journal.database.run(SQL("PRAGMA max_page_count = \(pages)"))
        var accepted: [String] = []
        var failure: StoreError?
        while failure == nil, accepted.count < 1_000 {
            do {
                accepted += try bench.start(Bench.start.replacing("ord-12", with: "id-\(accepted.count)"))
                    .codes
            } catch let error as StoreError {
                failure = error
                try bench.journal.rollback()
            }
        }
        #expect(failure?.isFull == true)
        try bench.journal.database.run("PRAGMA max_page_count = 1000000")
        try bench.restart()
        #expect(try bench.start().codes == [code])
        #expect(try bench.drain().commands.count == accepted.count + 1)
        #expect(try bench.journal.database.integrityCheck() == [])
    }

    @Test func `db-history-cleaned: what is old and settled goes in small steps, the rest stays`() throws {
        var configuration = Bench.configuration()
        configuration.retentionSeconds = 3_600
        let bench = try Bench(configuration)
        for id in 1...500 { try bench.start(Bench.start.replacing("ord-12", with: "id-\(id)")) }
        for message in 2...500 {
            try bench.hear(
                .settled(
                    Settled(
                        message: Int64(message), revision: 1, counts: OutcomeCounts(),
                        settledAtMilliseconds: bench.now.wall)))
        }
        func rows(_ table: String) throws -> Int64 {
            try bench.journal.database.first(SQL("SELECT count(*) FROM \(table)")) { $0.int(0) } ?? -1
        }
        bench.advance(seconds: 3_601)
        _ = try bench.turn()
        #expect(try rows("messages") == 401)
        while try rows("messages") > 1 {
            bench.now = bench.now.advanced(byMilliseconds: 50)
            _ = try bench.turn()
        }
        #expect(try rows("runs") == 500)
        // One that begins before the others are forgotten runs on.
        bench.advance(seconds: 11 * 3_600)
        try bench.start(Bench.start.replacing("ord-12", with: "younger"))
        bench.advance(seconds: 3_600)
        for _ in 1...10 {
            _ = try bench.turn()
            bench.advance(seconds: 61)
        }
        #expect(try rows("runs") == 1)
        #expect(try bench.update(Bench.update.replacing("ord-12", with: "younger")).codes.count == 1)
        #expect(try rows("messages") == 3, "none of them is settled")
    }

    @Test func `a shorter retention counts from the next turn after a reload`() throws {
        let bench = try Bench()
        try bench.start()
        try bench.hear(
            .settled(
                Settled(
                    message: 1, revision: 1, counts: OutcomeCounts(), settledAtMilliseconds: bench.now.wall)))
        func messages() throws -> Int64 {
            try bench.journal.database.first("SELECT count(*) FROM messages") { $0.int(0) } ?? -1
        }
        bench.advance(seconds: 2 * 86_400)
        _ = try bench.turn()
        #expect(try messages() == 1)
        var configuration = bench.configuration
        configuration.retentionSeconds = 86_400
        bench.core.reload(configuration)
        bench.advance(seconds: 61)
        _ = try bench.turn()
        #expect(try messages() == 0)
    }

    @Test(arguments: [false, true])
    func `ten times what memory takes stays in the journal, and all goes out in order`(
        _ restarts: Bool
    ) throws {
        let bench = try Bench(
            limits: limits {
                $0.atHandMax = 40
                $0.pageMax = 16
            })
        let activities = 1...100
        for place in activities {
            let id = "id-\(place)"
            try bench.activityToken(
                String(repeating: String(100 + place, radix: 10), count: 40), id, device: "dev-\(place)")
            try bench.update(Bench.update.replacing("ord-12", with: id))
            if place.isMultiple(of: 3) {
                try bench.update(Bench.end.replacing("ord-12", with: id))
                try bench.start(Bench.start.replacing("ord-12", with: id))
            }
            #expect(bench.core.release.count <= 3 * 20)
        }
        #expect(bench.core.backlog.total.registrations == 100)
        #expect(bench.core.backlog.total.commands == 166)
        if restarts {
            try bench.restart()
            #expect(bench.core.backlog.total.registrations == 100)
            #expect(bench.core.backlog.total.commands == 166)
            #expect(bench.core.release.count == 0, "turns read it")
        }
        var seen: [String: [Command.Kind]] = [:]
        var registered: Set<String> = []
        while true {
            let sent = try bench.turn()
            #expect(bench.core.release.count <= 3 * 20)
            guard !sent.isEmpty else { break }
            for message in sent {
                switch message {
                case .registration(let registration):
                    guard case .activityToken(let token) = registration.change else { continue }
                    registered.insert(token.activity)
                    try bench.hear(.taken(.registration(sequence: registration.sequence, by: .tokenRegistry)))
                case .command(let command):
                    #expect(registered.contains(command.activity))
                    seen[command.activity, default: []].append(command.kind)
                    try bench.hear(.taken(.command(message: command.sequence)))
                default: Issue.record("sent a \(message.type.rawValue)")
                }
            }
        }
        #expect(seen.count == 100)
        for place in activities {
            let kinds = seen["id-\(place)"] ?? []
            guard place.isMultiple(of: 3) else {
                #expect(kinds == [.update])
                continue
            }
            // An end waits for no update; a start waits for both.
            #expect(kinds.count == 3 && kinds.last == .start)
        }
        #expect(bench.core.backlog.total == Backlog.Held())
        #expect(bench.core.release.count == 0)
        #expect(bench.core.atHand.count == 0)
        #expect(bench.core.atHand.storedCount == 0)
    }

    @Test func `what the ledger has no room for holds up no end, and a cancelled start stays`() throws {
        let bench = try Bench(
            limits: limits {
                $0.atHandMax = 8
                $0.pageMax = 4
            })
        var codes: [String] = []
        for place in 1...30 {
            codes += try bench.start(Bench.start.replacing("ord-12", with: "id-\(place)")).codes
        }
        let first = try bench.turn().commands.map(\.sequence)
        #expect(first == [1, 2, 3, 4])
        for message in first { try bench.hear(.busy(Busy(message: message)), from: .segmenter) }
        try bench.update(Bench.end.replacing("ord-12", with: "id-30"))
        #expect(try bench.turn().commands.map(\.kind) == [.end])
        let path = "/v1/messages/\(codes[19])"
        #expect(try bench.call("DELETE", path, "", [("Authorization", "Bearer k-test")]).status == 200)
        #expect(try bench.turn().commands.map(\.kind) == [.cancel])
        bench.advance(seconds: 2)
        let rest = try bench.drain().commands
        #expect(rest.count == 29)
        #expect(!rest.contains { $0.sequence == 20 })
        #expect(bench.core.release.count == 3, "the end, the cancel, and what it is for")
        for message: Int64 in [20, 31, 32] { try bench.hear(.taken(.command(message: message))) }
        #expect(bench.core.release.count == 0)
        #expect(bench.core.backlog.total == Backlog.Held())
    }

    @Test func `what was taken in a former life is not read from the journal again`() throws {
        let bench = try Bench(
            limits: limits {
                $0.atHandMax = 8
                $0.pageMax = 2
            })
        for place in 1...30 { try bench.start(Bench.start.replacing("ord-12", with: "id-\(place)")) }
        try bench.restart()
        for message in 1...29 { try bench.hear(.taken(.command(message: Int64(message)))) }
        #expect(try bench.drain().commands.map(\.sequence) == [30])
        #expect(bench.core.backlog.total == Backlog.Held())
        #expect(bench.core.atHand.count == 0)
        #expect(bench.core.atHand.storedCount == 0)
    }

    @Test func `tokens are forgotten after twelve hours, what is known against them later`() throws {
        let bench = try Bench()
        try bench.activityToken(Bench.tokA)
        var fact = Fact(number: 1, application: "AAAAA-00001", kind: .tokenDied, registrationSequence: 0)
        fact.token = Bench.tokB
        try bench.hear(.fact(fact))
        bench.advance(seconds: 12 * 3_600 + 1)
        _ = try bench.turn()
        #expect(try bench.journal.token(Bench.tokA, application: "AAAAA-00001") == nil)
        #expect(try bench.journal.token(Bench.tokB, application: "AAAAA-00001")?.mark == .died)
        bench.advance(seconds: 7 * 86_400)
        _ = try bench.turn()
        #expect(try bench.journal.token(Bench.tokB, application: "AAAAA-00001") == nil)
    }
}

/// What no answer, log line or label may hold.
@Suite struct SecretTests {
    @Test func `ing-secrets-in-logs: secrets are in no answer and no log line`() throws {
        let bench = try Bench()
        let bodies = [
            Bench.start.replacing(#""Cooking""#, with: "7"),
            Bench.start.replacing(#"{"step":1}"#, with: "sk-leak-4242"),
            Bench.start,
        ]
        var answers = try bodies.map { try bench.notify("startLiveActivity", $0, auth: "sk-leak-4242").text }
        answers.append(try bench.call("POST", "/json/1.3/startLiveActivity", "sk-leak-4242").text)
        answers.append(try bench.fcm(Bench.fcmUpdate, token: "ya.leak-4242").text)
        answers.append(
            try bench.call("POST", "/json/1.3/setTags", "{}", [("Authorization", "Token leak-4242")]).text)
        #expect(answers.allSatisfy { !$0.contains("leak-4242") })
        let told = bench.logs.flatMap(\.fields).map(\.value) + bench.counts.flatMap(\.labels).map(\.value)
        #expect(told.allSatisfy { !$0.contains("leak-4242") && !$0.contains(Bench.tokA) })
    }

    @Test func `labels are few words, whatever callers send`() throws {
        let bench = try Bench()
        for change in PushwooshRefusalTests.starts + PushwooshRefusalTests.members {
            try bench.start(Bench.start.replacing(change.from, with: change.to))
        }
        for change in FirebaseRefusalTests.changes + FirebaseRefusalTests.tokens + FirebaseRefusalTests.events
        {
            try bench.fcm(Bench.fcmUpdate.replacing(change.from, with: change.to))
        }
        let labels = Set(bench.counts.filter { $0.name == "refused" }.flatMap(\.labels).map(\.value))
        #expect(labels.count < 30)
        #expect(labels.allSatisfy { $0.count < 25 })
        #expect(
            labels.isSuperset(of: ["pushwoosh", "firebase", "content-state", "unknown", "headers", "token"]))
    }
}
