import Contracts
import Testing

@testable import ingest

/// What of the accepted work stands in memory.
@Suite struct AtHandTests {
    private let app = "AAAAA-00001"
    private let other = "BBBBB-00002"

    /// A value that is changed inside of expectations.
    private final class Box {
        var value: AtHand

        init(_ heldMax: Int, page: Int = 4) {
            var limits = IngestLimits()
            limits.atHandMax = heldMax
            limits.pageMax = page
            value = AtHand(limits)
        }

        func accepted(_ sequence: Int64, _ flow: AtHand.Flow, of application: String) -> Bool {
            value.accepted(sequence, flow, of: application)
        }

        func taken(_ sequence: Int64, _ flow: AtHand.Flow, of application: String) {
            value.taken(sequence, flow, of: application)
        }

        func read(_ page: AtHand.Page, count: Int, last: Int64?, isAll: Bool) {
            value.read(page, count: count, last: last, isAll: isAll)
        }

        var nextPage: AtHand.Page? { value.nextPage() }
        var count: Int { value.count }
        var storedCount: Int { value.storedCount }
    }

    @Test func `an application has half of what is free, another half of the rest, and each may have one`() {
        let atHand = Box(16)
        for sequence in 1...20 { _ = atHand.accepted(Int64(sequence), .bound, of: app) }
        #expect(atHand.count == 8)
        for sequence in 21...40 { _ = atHand.accepted(Int64(sequence), .bound, of: other) }
        #expect(atHand.count == 12)
        for place in 0..<50 { _ = atHand.accepted(Int64(41 + place), .bound, of: "app-\(place)") }
        #expect(atHand.count <= 16 + 50)
        #expect(atHand.accepted(100, .bound, of: "the last"))
    }

    @Test func `what does not fit is read in pages once half of the room is free`() {
        let atHand = Box(16, page: 3)
        for sequence in 1...20 { _ = atHand.accepted(Int64(sequence), .bound, of: app) }
        #expect(atHand.storedCount == 12)
        #expect(atHand.nextPage == nil)
        for sequence in 1...4 { atHand.taken(Int64(sequence), .bound, of: app) }
        let page = AtHand.Page(application: app, flow: .bound, behind: 8, through: .max, countMax: 3)
        #expect(atHand.nextPage == page)
        atHand.read(page, count: 3, last: 11, isAll: false)
        #expect(atHand.storedCount == 9)
        #expect(atHand.nextPage == nil)
        // Taken in a former life, and never read.
        atHand.taken(15, .bound, of: app)
        #expect(atHand.storedCount == 8)
        #expect(!atHand.accepted(21, .bound, of: app), "nothing overtakes what is in the journal")
    }

    @Test func `no command is at hand before the registrations that were accepted earlier`() {
        let atHand = Box(4)
        for sequence in 1...3 { _ = atHand.accepted(Int64(sequence), .registrations, of: app) }
        #expect(!atHand.accepted(4, .free, of: app))
        #expect(!atHand.accepted(5, .bound, of: app))
        #expect(atHand.accepted(6, .bound, of: other))
        for flow in [AtHand.Flow.free, .bound] {
            let page = AtHand.Page(
                application: app, flow: flow, behind: 0, through: 2, countMax: flow == .free ? 2 : 1)
            #expect(atHand.nextPage == page)
            atHand.read(page, count: 0, last: nil, isAll: true)
        }
        #expect(atHand.nextPage == nil)
        atHand.taken(1, .registrations, of: app)
        let registrations = atHand.nextPage
        #expect(registrations?.flow == .registrations)
        if let registrations { atHand.read(registrations, count: 1, last: 3, isAll: true) }
        let free = atHand.nextPage
        #expect(free == AtHand.Page(application: app, flow: .free, behind: 2, through: .max, countMax: 2))
        if let free { atHand.read(free, count: 1, last: 4, isAll: true) }
        #expect(atHand.nextPage?.flow == .bound)
    }

    @Test func `an update is at hand only as far as the ends that were accepted earlier are`() {
        let atHand = Box(2)
        #expect(atHand.accepted(1, .free, of: app))
        #expect(!atHand.accepted(2, .free, of: app))
        #expect(!atHand.accepted(3, .bound, of: app))
        #expect(
            atHand.nextPage == AtHand.Page(application: app, flow: .bound, behind: 0, through: 1, countMax: 1)
        )
        atHand.taken(1, .free, of: app)
        #expect(atHand.nextPage?.flow == .free)
    }

    @Test func `starts and updates that fit nowhere hold up no end and no control`() {
        let atHand = Box(4)
        for sequence in 1...100 { _ = atHand.accepted(Int64(sequence), .bound, of: app) }
        #expect(atHand.accepted(101, AtHand.Flow(.end), of: app))
        #expect(atHand.accepted(102, AtHand.Flow(.resume), of: app))
    }
}
