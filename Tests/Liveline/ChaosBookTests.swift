import Contracts
import Testing

@testable import liveline

struct ChaosBookTests {
    var book = ChaosBook(intervalMilliseconds: 15_000)
    var connection = 1
    let phones = ["p-1", "p-2", "p-3"]

    /// An activity whose start has been accepted.
    mutating func begin(on count: Int = 1) -> Int {
        let serial = book.begin(name: { "a-\($0)" }, hardwareIDs: Array(phones.prefix(count)))
        accept(.start, serial)
        return serial
    }

    @discardableResult
    mutating func accept(_ kind: ChaosBook.Kind, _ serial: Int) -> ChaosNumber {
        let number = book.send(kind, serial: serial)
        book.accepted(number, code: "M-\(number.packed)")
        return number
    }

    mutating func arrive(
        _ number: ChaosNumber, at milliseconds: Int64, phone: String = "p-1", status: Int = 200,
        reaches: Bool = true, id: String? = nil, token: String = "t"
    ) {
        book.take(
            ArrivalFeed.Arrival(
                number: number.packed, atMicroseconds: milliseconds * 1_000, event: "update",
                verdict: reaches ? "updated" : nil, apnsID: id ?? "\(number.packed)", token: token,
                hardwareID: phone, connection: connection, status: status,
                answeredAtMicroseconds: milliseconds * 1_000))
    }

    mutating func gatewayDies(at milliseconds: Int64) {
        connection += 1
        let place = book.timeline.begin(.kill, .apnsGateway, at: milliseconds)
        book.timeline.ended(place, at: milliseconds)
        book.timeline.over(place, at: milliseconds + 500)
    }

    func settled(_ delivered: Int, errors: Int = 0, total: Int? = nil) -> ChaosBook.Settled {
        ChaosBook.Settled(delivered: delivered, errors: errors, total: total)
    }

    // MARK: Order and repeats

    @Test mutating func `states in their order are no breach, also when some are left out`() {
        let serial = begin()
        let numbers = (0..<4).map { _ in accept(.update, serial) }
        arrive(numbers[0], at: 1_000)
        arrive(numbers[3], at: 2_000)
        #expect(book.breaches == [])
        #expect(book.tally.pushes == 2)
    }

    @Test mutating func `an older state after a newer one is a breach with message, phone and times`() {
        let serial = begin()
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        arrive(two, at: 1_000)
        arrive(one, at: 2_000)
        #expect(
            book.breaches == [
                "an older state after 2 (00:00:01.000): update 1 of a-0 (M-1) at p-1, 00:00:02.000"
            ])
    }

    @Test mutating func `each phone has an order of its own`() {
        let serial = begin(on: 2)
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        arrive(two, at: 1_000, phone: "p-1")
        arrive(one, at: 2_000, phone: "p-2")
        #expect(book.breaches == [])
    }

    @Test mutating func `a push that comes twice is a breach`() {
        let one = accept(.update, begin())
        arrive(one, at: 1_000)
        arrive(one, at: 9_000)
        book.weigh()
        #expect(book.breachCount == 1)
        #expect(book.breaches.first?.hasPrefix("twice: update 1 of a-0 (M-1) at p-1, ") == true)
        #expect(book.tally.repeated == 1)
    }

    @Test mutating func `it may come once more for each end of a gateway that found it in flight`() {
        let one = accept(.update, begin())
        arrive(one, at: 1_000)
        gatewayDies(at: 2_000)
        arrive(one, at: 3_000)
        gatewayDies(at: 3_100)
        arrive(one, at: 4_000)
        book.weigh()
        #expect(book.breaches == [])
        #expect(book.tally.repeatedAfterEnd == 2)
        #expect(book.tally.oldestLostMilliseconds == 1_000)
        arrive(one, at: 4_050)
        book.weigh()
        #expect(book.breachCount == 1)
    }

    @Test mutating func `a gateway that dies when the registry knows more than that push is no excuse`() {
        let one = accept(.update, begin())
        let other = accept(.update, begin())
        arrive(one, at: 1_000)
        arrive(other, at: 1_500)
        gatewayDies(at: 4_000)
        arrive(one, at: 5_000)
        let known = ChaosBook.Settled(delivered: 1, errors: 0, total: 1, settledAt: 2_000)
        #expect(book.judge(other, known, isLate: false) == nil)
        book.weigh()
        #expect(book.breachCount == 1)
    }

    @Test mutating func `a push whose answer was lost may come again`() {
        let one = accept(.update, begin())
        arrive(one, at: 1_000, status: 0)
        arrive(one, at: 30_000)
        book.weigh()
        #expect(book.breaches == [])
        #expect(book.tally.repeatedAfterLostAnswer == 1)
    }

    @Test mutating func `a push that APNs has not taken may come again`() {
        let one = accept(.update, begin())
        arrive(one, at: 1_000, status: 503, reaches: false)
        arrive(one, at: 2_000)
        #expect(book.breaches == [])
        #expect(book.tally.notTaken == 1)
        #expect(book.tally.repeated == 0)
    }

    @Test
    mutating func `a phone whose token has changed may get the end, and nothing else, when all is over`() {
        let serial = begin(on: 2)
        let (update, end) = (accept(.update, serial), accept(.end, serial))
        book.strays(serial)
        for phone in ["p-1", "p-2"] {
            arrive(ChaosNumber(serial: serial, step: 0), at: 1_000, phone: phone)
        }
        arrive(end, at: 2_000)
        for (step, delivered) in [(0, 2), (1, 0), (2, 1)] {
            let number = ChaosNumber(serial: serial, step: step)
            #expect(book.judge(number, settled(delivered, errors: 2 - delivered), isLate: true) == nil)
        }
        #expect(book.activities.isEmpty)
        arrive(end, at: 3_000, phone: "p-2")
        #expect(book.breaches == [])
        arrive(end, at: 4_000, phone: "p-1")
        arrive(update, at: 4_000, phone: "p-2")
        #expect(book.breachCount == 2)
    }

    @Test(arguments: [false, true])
    mutating func `unless it was dismissed there it has to get it`(isDismissed: Bool) {
        let serial = begin()
        let (start, end) = (ChaosNumber(serial: serial, step: 0), accept(.end, serial))
        arrive(start, at: 1_000)
        book.strays(serial, isDismissed: isDismissed)
        #expect(book.judge(start, settled(1), isLate: true) == nil)
        #expect(book.judge(end, settled(0, errors: 1), isLate: true) == nil)
        #expect(book.lateEndCount == (isDismissed ? 0 : 1))
        book.checkLateEnds()
        #expect(
            book.breaches
                == (isDismissed ? [] : ["p-1 never had the end of a-0 (its token has changed)"]))
        arrive(end, at: 9_000)
        #expect(book.lateEndCount == 0)
    }

    @Test mutating func `a push for an activity that is over is a breach`() {
        let serial = begin()
        let end = accept(.end, serial)
        arrive(ChaosNumber(serial: serial, step: 0), at: 1_000)
        arrive(end, at: 2_000)
        #expect(book.judge(ChaosNumber(serial: serial, step: 0), settled(1), isLate: true) == nil)
        #expect(book.judge(end, settled(1), isLate: true) == nil)
        #expect(book.activities.isEmpty)
        arrive(end, at: 3_000)
        #expect(book.breaches.first?.hasPrefix("a push for an activity that is over: ") == true)
    }

    // MARK: Dead tokens

    @Test mutating func `a token after its 410 is a breach`() {
        let serial = begin()
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        arrive(one, at: 1_000, status: 410, reaches: false, token: "dead")
        arrive(two, at: 9_000, status: 410, reaches: false, token: "other")
        #expect(book.breaches == [])
        arrive(two, at: 9_000, status: 410, reaches: false, token: "dead")
        book.weigh()
        #expect(book.breaches.first?.hasPrefix("a dead token again, told 00:00:01.000: update 2") == true)
    }

    @Test(arguments: [200, 503, 0])
    mutating func `a dead token is not used again, whatever APNs says then`(status: Int) {
        let serial = begin()
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        arrive(one, at: 1_000, status: 410, reaches: false, token: "dead")
        arrive(two, at: 9_000, status: status, reaches: status == 200, token: "dead")
        book.weigh()
        #expect(book.breachCount == 1)
    }

    @Test mutating func `unless the gateway ended with the answer, or the token was registered late`() {
        let serial = begin()
        let one = accept(.update, serial)
        arrive(one, at: 1_000, status: 410, reaches: false, token: "dead")
        gatewayDies(at: 1_200)
        arrive(one, at: 2_000, status: 410, reaches: false, token: "dead")
        book.tokenDied(serial, whileRegistering: true)
        arrive(one, at: 99_000, status: 410, reaches: false, token: "dead")
        book.weigh()
        #expect(book.breaches == [])
        #expect(book.tally.goneAgain == 2)
    }

    // MARK: Messages

    @Test mutating func `a message is delivered exactly where APNs has had it`() {
        let serial = begin(on: 3)
        let one = accept(.update, serial)
        arrive(one, at: 1_000, phone: "p-1")
        arrive(one, at: 1_000, phone: "p-2")
        #expect(
            book.judge(one, settled(3), isLate: true)?.hasPrefix("delivered is 3, APNs has had it 2 times")
                == true)
        #expect(book.judge(one, settled(1), isLate: true)?.hasPrefix("delivered is 1, ") == true)
        #expect(book.judge(one, settled(2, total: 3), isLate: true) == nil)
        #expect(book.tally.superseded == 1)
    }

    @Test mutating func `what a gateway took with it may be delivered or not`() {
        let serial = begin()
        let (one, two) = (accept(.update, serial), accept(.update, serial))
        arrive(one, at: 1_000)
        arrive(two, at: 1_100)
        gatewayDies(at: 1_200)
        #expect(book.judge(one, settled(0), isLate: false)?.hasPrefix("early: ") == true)
        #expect(book.judge(one, settled(0), isLate: true) == nil)
        #expect(book.judge(two, settled(1), isLate: true) == nil)
    }

    @Test(arguments: [(2, 0), (4, 0), (2, 1)])
    mutating func `each phone has one delivery`(total: Int, errors: Int) {
        let one = accept(.update, begin(on: 3))
        #expect(book.judge(one, settled(0, errors: errors, total: total), isLate: true) != nil)
        #expect(book.judge(one, settled(0, total: 3), isLate: true) == nil)
    }

    @Test mutating func `a delivery may fail where tokens change`() {
        let serial = begin()
        let one = accept(.update, serial)
        #expect(
            book.judge(one, settled(0, errors: 1, total: 1), isLate: true)?.hasPrefix("1 deliveries failed: ")
                == true)
        book.strays(serial)
        #expect(book.judge(one, settled(0, errors: 1, total: 1), isLate: true) == nil)
    }

    @Test mutating func `an end that finds its start unsent fails`() {
        let serial = begin()
        let end = accept(.end, serial)
        #expect(book.judge(end, settled(0, errors: 1, total: 1), isLate: true) == nil)
    }

    @Test(arguments: [0, 1])
    mutating func `an end that its phones have not had is not settled`(errors: Int) {
        let serial = begin(on: 3)
        let end = accept(.end, serial)
        for phone in phones.prefix(2) {
            arrive(ChaosNumber(serial: serial, step: 0), at: 1_000, phone: phone)
        }
        arrive(end, at: 2_000, phone: "p-1")
        let fault = book.judge(end, settled(1, errors: errors, total: 3), isLate: true)
        #expect(fault == "p-2 has not had it: end 1 of a-0 (M-1)")
        arrive(end, at: 3_000, phone: "p-2")
        // The third has never had its start, which the end may find unsent.
        #expect(book.judge(end, settled(2, errors: 1, total: 3), isLate: true) == nil)
    }

    @Test mutating func `a refusal is a breach unless the activity was dismissed`() {
        let (one, other) = (begin(), begin())
        book.strays(one)
        book.refused(book.send(.update, serial: one), "not running")
        #expect(book.breaches == ["refused: update 1 of a-0: not running"])
        book.strays(other, isDismissed: true)
        book.refused(book.send(.update, serial: other), "not running")
        #expect(book.breachCount == 1)
        #expect(book.tally.refused == 2)
    }

    @Test mutating func `what is left in the end is a breach`() {
        let serial = begin()
        book.unsettled(accept(.update, serial))
        book.unanswered(book.send(.update, serial: serial))
        book.condemn(accept(.update, serial), "it does not fit")
        #expect(
            book.breaches == [
                "not settled: update 1 of a-0 (M-1)", "never answered: update 2 of a-0", "it does not fit",
            ])
    }

    @Test mutating func `an accepted message that nobody judged is a breach`() {
        let serial = begin()
        let one = accept(.update, serial)
        #expect(book.judge(ChaosNumber(serial: serial, step: 0), settled(0), isLate: true) == nil)
        book.balance()
        #expect(book.breaches == ["1 accepted messages were not judged"])
        #expect(book.judge(one, settled(0), isLate: true) == nil)
        book.balance()
        #expect(book.breachCount == 1)
    }

    @Test mutating func `what was in flight when gateways ended bounds what may come twice`() {
        for moment in [1_000, 2_000, 3_000, 9_000] { arrive(accept(.update, begin()), at: Int64(moment)) }
        gatewayDies(at: 2_500)
        gatewayDies(at: 3_500)
        book.timeline.committed(1_000, at: 2_000)
        book.weigh()
        #expect(book.tally.inFlightAtEnds == 1 + 2)
    }

    // MARK: Phones

    @Test mutating func `a phone shows the newest state that was accepted`() {
        let serial = begin()
        let one = accept(.update, serial)
        book.check(serial, place: 0, shown: one.packed)
        #expect(book.breaches == [])
        book.check(serial, place: 0, shown: ChaosNumber(serial: serial, step: 0).packed)
        book.check(serial, place: 0, shown: nil)
        #expect(
            book.breaches == [
                "p-1 shows state 0 of a-0, the newest is 1", "p-1 shows nothing of a-0, the newest is 1",
            ])
        #expect(book.tally.phones == 3)
    }

    @Test mutating func `breaches are counted on when their words are no longer kept`() {
        for number in 0..<30 { book.breach("\(number)") }
        #expect(book.breachCount == 30)
        #expect(book.breaches.count == ChaosBook.breachesMax)
    }

    @Test mutating func `an activity is forgotten once it has ended and is judged`() {
        for _ in 0..<100 {
            let serial = begin()
            let end = accept(.end, serial)
            arrive(ChaosNumber(serial: serial, step: 0), at: 1)
            arrive(end, at: 2)
            #expect(book.judge(ChaosNumber(serial: serial, step: 0), settled(1), isLate: true) == nil)
            #expect(book.judge(end, settled(1), isLate: true) == nil)
        }
        #expect(book.activities.isEmpty)
        #expect(book.tally.settled == 200)
    }
}
