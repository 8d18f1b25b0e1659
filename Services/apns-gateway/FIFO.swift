/// A queue that gives back its elements in their order, each in constant time on average.
struct FIFO<Element> {
    private static var slack: Int { 1_024 }
    private var elements: [Element] = []
    private var start = 0

    var count: Int { elements.count - start }
    var first: Element? { start < elements.count ? elements[start] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        if start == elements.count {
            elements.removeAll(keepingCapacity: start <= Self.slack)
            start = 0
        } else if start > Self.slack, start > elements.count / 2 {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }

    /// Keeps those of which `stays` is true; each is asked once, in order.
    mutating func keep(where stays: (Element) -> Bool) {
        elements = elements[start...].filter(stays)
        start = 0
    }
}
