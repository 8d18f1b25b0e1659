/// A queue that gives back its elements in their order, each in constant time on average, and its memory with them.
public struct FIFO<Element> {
    private var elements: [Element?] = []
    private var start = 0

    /// Below this many given back, no memory is moved.
    private static var slack: Int { 64 }

    /// An empty queue.
    public init() {}

    /// How many wait.
    public var count: Int { elements.count - start }
    /// Whether none waits.
    public var isEmpty: Bool { count == 0 }
    /// The one that waits longest.
    public var first: Element? { isEmpty ? nil : elements[start] }

    /// Adds an element behind all others.
    public mutating func append(_ element: Element) { elements.append(element) }

    /// Adds an element behind the last one that it belongs behind; in constant time if that is the last of all.
    ///
    /// - Parameters:
    ///   - element: what is added.
    ///   - belongsBehind: whether it belongs behind another; true for all before one for which it is true.
    public mutating func insert(_ element: Element, where belongsBehind: (Element) -> Bool) {
        var place = elements.count
        while place > start, let other = elements[place - 1], !belongsBehind(other) { place -= 1 }
        elements.insert(element, at: place)
    }

    /// Takes out the one that waits longest.
    public mutating func popFirst() -> Element? {
        guard start < elements.count else { return nil }
        let element = elements[start]
        elements[start] = nil
        start += 1
        if start > Self.slack, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    /// Takes out all that match; each is asked once, in order.
    ///
    /// - Returns: what was taken out, in its order.
    @discardableResult
    public mutating func removeAll(where matches: (Element) -> Bool) -> [Element] {
        var taken: [Element] = []
        var kept: [Element?] = []
        for case let element? in elements[start...] {
            if matches(element) { taken.append(element) } else { kept.append(element) }
        }
        elements = kept
        start = 0
        return taken
    }
}
