/// Things that are due at some time, the earliest first; what is due together comes out in the order it went in.
struct DeadlineQueue<Element> {
    private struct Node {
        var due: Int64
        var order: UInt64
        var element: Element
    }

    private var heap: [Node] = []
    private var order: UInt64 = 0

    init() {}

    /// How many wait.
    var count: Int { heap.count }

    /// When the first is due.
    var nextDue: Int64? { heap.first?.due }

    /// Adds an element that is due at `due`.
    mutating func push(_ element: Element, due: Int64) {
        heap.append(Node(due: due, order: order, element: element))
        order += 1
        siftUp()
    }

    /// Takes the first element out if it is due at `now`.
    mutating func pop(now: Int64) -> Element? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown()
        return first.element
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].due, heap[left].order) < (heap[right].due, heap[right].order)
    }

    private mutating func siftUp() {
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if isBefore(child, least) { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
