/// A queue that gives back its elements in their order, each in constant time.
struct FIFO<Element> {
    private var elements: [Element?] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard start < elements.count else { return nil }
        let element = elements[start]
        elements[start] = nil
        start += 1
        if start > 64, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    /// Takes out all that match, in their order.
    mutating func removeAll(where matches: (Element) -> Bool) -> [Element] {
        let all = elements.dropFirst(start).compactMap { $0 }
        elements = all.filter { !matches($0) }
        start = 0
        return all.filter(matches)
    }
}
