import Testing

@testable import apns_simulator

@Suite struct TokenMintTests {
    @Test func `a token says what it stands for to who knows the seed, and nothing to others`() {
        let mint = TokenMint(seed: 1)
        for reference in [
            TokenReference(kind: .device, generation: 0, index: 0),
            TokenReference(kind: .start, type: 15, generation: 0x3FF_FFFF, index: .max),
            TokenReference(kind: .activity, generation: 5, index: 99_999),
        ] {
            let token = mint.token(for: reference)
            #expect(token.count == (reference.kind == .device ? 64 : 160))
            #expect(read(mint, token) == reference)
            #expect(read(TokenMint(seed: 2), token) == nil)
            #expect(read(mint, token.dropLast(2) + "00") == nil)
            #expect(read(mint, String(token.dropLast())) == nil)
        }
    }

    private func read(_ mint: TokenMint, _ token: String) -> TokenReference? {
        mint.reference(of: token.utf8.span)
    }

    @Test func `lengths can be chosen`() {
        let mint = TokenMint(seed: 1, lengths: TokenMint.Lengths(device: 16, liveActivity: 512))
        #expect(mint.token(for: TokenReference(kind: .start, generation: 0, index: 1)).count == 1024)
    }
}

@Suite struct HistoryRingTests {
    private func fill(_ ring: inout HistoryRing, _ count: Int, after first: Int64 = -1, size: Int = 8)
        -> Int64
    {
        (0..<count).reduce(first) { last, place in
            ring.append(
                after: last, atMilliseconds: Int64(place), event: .update, verdict: .updated, activityID: "a",
                contentState: Array(repeating: UInt8(place & 0xFF), count: size)[...])
        }
    }

    @Test func `the last entries of a phone are kept, the newest last`() {
        var ring = HistoryRing(perPhone: 3, bytesMax: 1 << 20)
        let last = fill(&ring, 5)
        #expect(ring.entries(from: last).map(\.atMilliseconds) == [2, 3, 4])
        #expect(ring.entries(from: -1) == [])
    }

    @Test func `what has fallen out of the ring is not shown, and what is left is whole`() {
        var ring = HistoryRing(perPhone: 100_000, bytesMax: 65_536)
        let lonely = fill(&ring, 1)
        let last = fill(&ring, 2000, size: 1000)
        #expect(ring.entries(from: lonely) == [])
        let entries = ring.entries(from: last)
        #expect(entries.count == 65)
        for entry in entries {
            #expect(entry.contentState == Array(repeating: UInt8(entry.atMilliseconds & 0xFF), count: 1000))
        }
    }

    @Test func `no history is kept when none is wanted`() {
        var ring = HistoryRing(perPhone: 0, bytesMax: 65_536)
        #expect(fill(&ring, 3) == -1)
    }
}

@Suite struct SmallPartsTests {
    @Test func `what is due first comes first, and in order when due together`() {
        var queue = DeadlineQueue<String>()
        for (name, due) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2), ("d", 4)] {
            queue.push(name, due: Int64(due))
        }
        #expect(queue.nextDue == 1)
        #expect(queue.pop(now: 0) == nil)
        #expect((0..<5).map { _ in queue.pop(now: 3) } == ["a", "b1", "b2", "c", nil])
        #expect(queue.count == 1)
    }

    @Test func `arrivals are listed by number and the oldest fall out`() {
        var arrivals = Arrivals(limit: 3)
        for place in 0..<5 {
            arrivals.append(
                Arrivals.Arrival(
                    idHigh: 0, idLow: 0, reference: 0, receivedAtMicroseconds: Int64(place), event: .update,
                    verdict: .updated, marker: nil))
        }
        let all = arrivals.list(since: 0, count: 10)
        #expect(all.first == 2)
        #expect(all.arrivals.map(\.receivedAtMicroseconds) == [2, 3, 4])
        #expect(arrivals.list(since: 3, count: 1).arrivals.map(\.receivedAtMicroseconds) == [3])
        #expect(arrivals.list(since: 99, count: 1).arrivals.isEmpty)
    }

    @Test func `push ids are read in either case and written in lower case`() {
        let text = "abcdef01-2345-4678-9abc-def012345678"
        #expect(PushID(text.uppercased())?.text == text)
        #expect(PushID("order-12") == nil)
    }

    @Test func `a second counter starts again with each second`() {
        var counter = SecondCounter()
        #expect([1, 1, 1, 2].map { counter.count(nowSeconds: $0, limit: 2) } == [true, true, false, true])
        #expect(counter.count(nowSeconds: 2, limit: 0) == true)
    }

    @Test func `an allowance refills by ones up to its burst`() {
        var allowance = Allowance()
        let taken = [0, 0, 0, 10, 10, 1000, 1000, 1000].map {
            allowance.take(nowSeconds: $0, burst: 2, refillSeconds: 10)
        }
        #expect(taken == [true, true, false, true, false, true, true, false])
    }

    @Test(arguments: [
        ("18", true), ("17.2", true), ("17.1.9", false), ("16.4", false), ("x", nil), ("", nil),
        ("1.2.3.4", nil),
    ])
    func `versions tell whether a push can start an activity`(_ text: String, _ canStart: Bool?) {
        #expect(SystemVersion(text)?.hasStartTokens == canStart)
    }
}

@Suite struct FleetCreationTests {
    private func traits(_ prefix: String) -> PhoneGroup.Traits {
        PhoneGroup.Traits(prefix: prefix, application: "A")
    }

    @Test func `phones of one prefix are numbered on, and none exists twice`() {
        var fleet = PhoneFleet()
        let add = { (fleet: inout PhoneFleet, prefix: String, count: Int, first: Int?, isSingle: Bool) in
            fleet.add(
                traits(prefix), count: count, firstNumber: first, isSingle: isSingle, nowMilliseconds: 0)
        }
        #expect(add(&fleet, "p-", 10, nil, false) == 0..<10)
        #expect(add(&fleet, "p-", 10, nil, false) == 10..<20)
        #expect(add(&fleet, "p-", 1, 20, false) == nil)
        #expect(add(&fleet, "p-5", 1, nil, true) == nil)
        #expect(add(&fleet, "dev", 1, nil, true) == 20..<21)
        #expect(add(&fleet, "dev", 1, nil, true) == nil)
        #expect(fleet.phone(hardwareID: "p-11") == 10)
        #expect(fleet.phone(hardwareID: "dev") == 20)
        #expect(fleet.phone(hardwareID: "p-21") == nil)
        #expect(fleet.phone(hardwareID: "p-011") == nil)
        #expect(fleet.group(of: 10).hardwareID(of: 10) == "p-11")
    }

    @Test func `the same seed gives the same tokens, and another era others`() {
        let tokens = [0, 0, 1].map { era in
            var fleet = PhoneFleet(era: era)
            _ = fleet.add(traits("p"), count: 1, firstNumber: nil, isSingle: false, nowMilliseconds: 0)
            return fleet.token(fleet.deviceToken(of: 0))
        }
        #expect(tokens[0] == tokens[1])
        #expect(tokens[0] != tokens[2])
    }

    @Test func `a phone takes little memory`() {
        #expect(MemoryLayout<Phone>.stride <= 96)
        #expect(MemoryLayout<LiveActivity>.stride <= 192)
    }
}

@Suite struct StreamBoundTests {
    @Test func `without an end every stream is processed`() {
        let bound = StreamBound()
        #expect(bound.last == nil)
        #expect(bound.admits(2_147_483_647))
    }

    @Test func `the end is before the stream that brought it, and does not rise`() {
        var bound = StreamBound()
        bound.processed(3)
        bound.end(before: 9)
        #expect(bound.last == 7)
        #expect(bound.admits(5) && bound.admits(7) && !bound.admits(9))
        bound.end(before: 11)
        #expect(bound.last == 7)
        bound.end(before: 5)
        #expect(bound.last == 3)
    }

    @Test func `a later stream that was complete first is covered`() {
        var bound = StreamBound()
        bound.processed(7)
        bound.end(before: 5)
        #expect(bound.last == 7)
        bound.endAll()
        #expect(!bound.admits(1))
    }
}
