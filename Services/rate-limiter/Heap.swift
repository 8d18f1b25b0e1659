/// A binary heap: the smallest element first.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    /// The smallest element.
    var first: Element? { elements.first }

    /// How many there are.
    var count: Int { elements.count }

    /// Adds an element.
    mutating func push(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes all that match.
    mutating func removeAll(where matches: (Element) -> Bool) {
        elements.removeAll(where: matches)
        // What is sorted is a heap.
        elements.sort()
    }

    /// Removes the smallest element, if there is one.
    mutating func removeFirst() {
        guard let last = elements.popLast(), !elements.isEmpty else { return }
        elements[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < elements.count && elements[child] < elements[smallest] {
                smallest = child
            }
            guard smallest != parent else { return }
            elements.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
