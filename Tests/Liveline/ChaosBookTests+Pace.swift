import Contracts
import Testing

@testable import liveline

// MARK: - Pace

extension ChaosBookTests {
    /// Two updates that came so far apart.
    private mutating func twoUpdates(at first: Int64, _ second: Int64, status: Int = 200) {
        let serial = begin()
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        arrive(one, at: first, status: status)
        arrive(two, at: second)
    }

    @Test mutating func `an update that comes sooner than the interval is a breach`() {
        twoUpdates(at: 1_000, 14_000)
        book.weigh()
        #expect(
            book.breaches == [
                "13000 ms after 1 (00:00:01.000): update 2 of a-0 (M-2) at p-1, 00:00:14.000"
            ])
    }

    @Test mutating func `it may be as late as the machine is slow, and the closest two are told`() {
        twoUpdates(at: 1_000, 15_100)
        twoUpdates(at: 1_000, 19_000)
        book.weigh()
        #expect(book.breaches == [])
        #expect(book.tally.paced == 2)
        #expect(book.tally.shortestMilliseconds == 14_100)
    }

    @Test mutating func `services that end in between do not change the pace`() {
        let place = book.timeline.begin(.kill, .rateLimiter, at: 1_500)
        book.timeline.over(place, at: 2_000)
        let other = book.timeline.begin(.kill, .tokenRegistry, at: 1_500)
        book.timeline.over(other, at: 2_000)
        twoUpdates(at: 1_000, 3_000)
        book.weigh()
        #expect(book.breachCount == 1)
    }

    @Test mutating func `an update may follow at once where nobody could know of the former`() {
        twoUpdates(at: 1_000, 2_000, status: 0)
        let serial = begin()
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        arrive(one, at: 10_000)
        gatewayDies(at: 10_100)
        arrive(two, at: 11_000)
        book.weigh()
        #expect(book.breaches == [])
    }

    @Test mutating func `a gateway that was held excuses nothing`() {
        let place = book.timeline.begin(.hold, .apnsGateway, at: 2_000)
        book.timeline.over(place, at: 9_900)
        twoUpdates(at: 10_000, 17_000)
        book.weigh()
        #expect(book.breachCount == 1)
    }

    @Test mutating func `a start and an end have no pace, and a repeat none of its own`() {
        let serial = begin()
        let one = accept(.update, serial)
        arrive(ChaosNumber(serial: serial, step: 0), at: 900)
        arrive(one, at: 1_000, status: 200)
        gatewayDies(at: 1_100)
        arrive(one, at: 9_000)
        arrive(accept(.update, serial), at: 16_000)
        arrive(accept(.end, serial), at: 16_500)
        book.weigh()
        #expect(book.breaches == [])
    }
}

// MARK: - Channels

extension ChaosBookTests {
    @Test
    mutating func `an update of an activity with a channel is one delivery, its start one for each phone`() {
        let serial = book.begin(name: { "a-\($0)" }, hardwareIDs: phones, channel: "c")
        let start = accept(.start, serial)
        let one = accept(.update, serial)
        for phone in phones {
            book.take(
                ArrivalFeed.Arrival(
                    number: one.packed, atMicroseconds: 1_000_000, event: "start", verdict: "started",
                    hardwareID: phone, answeredAtMicroseconds: 1_000_000))
        }
        arrive(one, at: 2_000, phone: "channel:c")
        #expect(book.judge(start, settled(3, total: 4), isLate: true) != nil)
        #expect(book.judge(start, settled(3, total: 3), isLate: true) == nil)
        #expect(book.judge(one, settled(1, total: 3), isLate: true) != nil)
        #expect(book.judge(one, settled(1, total: 1), isLate: true) == nil)
        #expect(book.breaches == [])
    }

    @Test mutating func `a channel has an order, a pace and no repeats, like a phone`() {
        let serial = book.begin(name: { "a-\($0)" }, hardwareIDs: phones, channel: "c")
        accept(.start, serial)
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        let three = accept(.update, serial)
        arrive(two, at: 1_000, phone: "channel:c")
        arrive(one, at: 5_000, phone: "channel:c")
        arrive(three, at: 9_000, phone: "channel:c")
        arrive(three, at: 40_000, phone: "channel:c")
        book.weigh()
        #expect(book.breachCount == 3)
    }
}
