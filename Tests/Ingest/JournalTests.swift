import Store
import Testing

@testable import ingest

/// The sequence that messages and registrations are told apart by, also by services that outlive a journal.
@Suite struct `The journal's sequence` {
    private func next(_ journal: Journal, of count: Int = 1) throws -> Int64 {
        try journal.begin()
        let sequence = try journal.nextSequence(of: count)
        try journal.commit()
        return sequence
    }

    private func open(_ location: Database.Location, at seconds: Int64) throws -> Journal {
        try Journal(location, freshSecret: [UInt8](0..<32), openedAtSeconds: seconds)
    }

    @Test func `a new journal gives no number again that a former one has given`() throws {
        let former = try open(.memory, at: 1_800_000_000)
        let last = try next(former, of: 1_000_000)
        let new = try open(.memory, at: 1_800_000_001)
        #expect(try next(new) > last + 1_000_000 - 1)
        #expect(numbersGoOn(openedAtSeconds: 4_102_444_800) < 1 << 53)
    }

    @Test func `a journal that is opened again never goes back, whatever the clock says`() throws {
        try withDirectory { directory in
            let file = Database.Location.file("\(directory)/journal.sqlite")
            let first = try next(open(file, at: 1_800_000_000))
            #expect(first > 1_800_000_000 << 20)
            #expect(try next(open(file, at: 1_700_000_000)) == first + 1)
            #expect(try next(open(file, at: -1)) == first + 2)
            #expect(try next(open(file, at: 1_800_000_001)) > first + 1_000_000)
            #expect(try next(open(file, at: .max)) > 0)
        }
    }
}
