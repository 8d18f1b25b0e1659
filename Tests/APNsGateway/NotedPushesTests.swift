import Contracts
import Service
import Testing

@testable import apns_gateway

/// What the gateway keeps of pushes whose outcome was noted.
@Suite struct NotedPushesTests {
    let bench = Bench()

    private func id(_ number: Int) -> PushID { PushID(message: Int64(number / 7), device: Int64(number % 7)) }

    private func known(_ number: Int) -> KnownPush {
        KnownPush(
            bench.push(attempt: number), number: number, application: Bench.application,
            expirationSeconds: 0, asker: Bench.limiter.instance)
    }

    private func outcome(_ number: Int) -> KnownPush.Outcome {
        KnownPush.Outcome(
            result: Report.Result.allCases[number % 4], status: number % 3 == 0 ? nil : 200 + number % 300,
            reason: number % 5 == 0 ? nil : "Reason\(number % 5)",
            apnsTimestampMilliseconds: number % 2 == 0 ? nil : Int64(number),
            retryAtMilliseconds: number % 2 == 0 ? Int64(number) : nil,
            sentAtMilliseconds: number % 3 == 0 ? nil : Int64(number))
    }

    private func add(_ number: Int, to noted: inout NotedPushes) {
        noted.append(id(number), known(number), outcome(number), at: Int64(number))
    }

    private func isRight(_ number: Int, in noted: NotedPushes) -> Bool {
        let push = noted.recall(id(number), known(0))
        return push?.outcome == outcome(number) && push?.attempt == number
    }

    @Test func `a push comes back as it was noted, until its time is over`() {
        var noted = NotedPushes()
        for number in 1...1_000 { add(number, to: &noted) }
        #expect((1...1_000).allSatisfy { isRight($0, in: noted) })
        noted.forget(through: 400)
        #expect(noted.count == 600)
        #expect(noted.oldestMilliseconds == 401)
        #expect((1...400).allSatisfy { noted.recall(id($0), known(0)) == nil })
        #expect((401...1_000).allSatisfy { isRight($0, in: noted) })
        noted.forget(through: 1_000)
        #expect(noted.count == 0)
        #expect(noted.oldestMilliseconds == nil)
    }

    @Test func `at the limit the oldest are forgotten, and no more memory is taken`() {
        var noted = NotedPushes(countMax: 100)
        for number in 1...1_000 { add(number, to: &noted) }
        #expect(noted.count == 100)
        #expect(noted.places == 100)
        #expect((1...900).allSatisfy { noted.recall(id($0), known(0)) == nil })
        #expect((901...1_000).allSatisfy { isRight($0, in: noted) })
    }

    @Test func `the memory for many is given back when they are forgotten`() {
        var noted = NotedPushes()
        for number in 1...10_000 { add(number, to: &noted) }
        noted.forget(through: 9_990)
        #expect(noted.count == 10)
        #expect(noted.places < 100)
        #expect((9_991...10_000).allSatisfy { isRight($0, in: noted) })
    }

    @Test func `one takes less than 100 bytes`() {
        #expect(MemoryLayout<NotedPushes.Slot?>.stride + MemoryLayout<Int32>.stride == 92)
    }

    @Test(arguments: [1, 7, 64, 500])
    func `it holds what it should, whatever is added, taken out and forgotten`(countMax: Int) {
        var noted = NotedPushes(countMax: countMax)
        var model: [(number: Int, id: PushID)] = []
        var random = UInt64(countMax)
        func next(below limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % limit
        }
        for number in 1...5_000 {
            if !model.isEmpty, next(below: 3) == 0 {
                noted.remove(model.remove(at: next(below: model.count)).id)
            }
            if next(below: 90) == 0 {
                let time = number - next(below: 200)
                noted.forget(through: Int64(time))
                model.removeAll { $0.number <= time }
            }
            add(number, to: &noted)
            model.append((number, id(number)))
            // What was taken out counts for the limit until the oldest has passed its place.
            while let first = model.first, first.number + countMax <= number,
                noted.recall(first.id, known(0)) == nil
            {
                model.removeFirst()
            }
            #expect(noted.count == model.count && noted.count <= countMax)
            #expect(noted.oldestMilliseconds == model.first.map { Int64($0.number) })
        }
        #expect(model.allSatisfy { isRight($0.number, in: noted) })
    }

    @Test func `reasons that nobody could list share one name`() {
        var reasons = Reasons()
        let codes = (1...1_000).map { reasons.code(of: "Reason\($0)") }
        #expect(reasons[codes[0]] == "Reason1")
        #expect(reasons[codes[253]] == "Reason254")
        #expect(codes[254...].allSatisfy { reasons[$0] == Reasons.other })
        #expect(reasons.code(of: "Reason7") == codes[6])
        #expect(reasons[reasons.code(of: nil)] == nil)
    }
}
