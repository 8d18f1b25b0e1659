import Collections
import Testing

@Suite struct FIFOTests {
    @Test func `elements come out in the order in which they came`() {
        var queue = FIFO<Int>()
        var out: [Int] = []
        for number in 0..<1_000 {
            queue.append(number)
            if number.isMultiple(of: 3), let first = queue.popFirst() { out.append(first) }
        }
        #expect(queue.count == 1_000 - out.count)
        #expect(queue.first == out.count)
        while let first = queue.popFirst() { out.append(first) }
        #expect(out == Array(0..<1_000))
        #expect(queue.isEmpty && queue.first == nil && queue.popFirst() == nil)
    }

    @Test func `one that comes late finds its place, behind its equals`() {
        var queue = FIFO<(key: Int, name: String)>()
        for (key, name) in [(1, "a"), (5, "b"), (9, "c")] { queue.append((key, name)) }
        _ = queue.popFirst()
        for (key, name) in [(7, "d"), (5, "e"), (9, "f"), (0, "g")] {
            queue.insert((key, name)) { $0.key <= key }
        }
        var names = ""
        while let first = queue.popFirst() { names += first.name }
        #expect(names == "gbedcf")
    }

    @Test func `some are taken out of the middle, each asked once`() {
        var queue = FIFO<Int>()
        (0..<200).forEach { queue.append($0) }
        for _ in 0..<100 { _ = queue.popFirst() }
        var asked: [Int] = []
        let taken = queue.removeAll {
            asked.append($0)
            return $0.isMultiple(of: 2)
        }
        #expect(asked == Array(100..<200))
        #expect(taken == stride(from: 100, to: 200, by: 2).map { $0 })
        #expect(queue.popFirst() == 101 && queue.count == 49)
    }
}
