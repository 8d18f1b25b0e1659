/// Objects of at most this many members are compared pair by pair, which allocates nothing.
private let pairwiseMembersMax = 8

/// The first member, in the order of the objects, that repeats a name of its own object.
///
/// Names are compared as bytes after unescaping: Swift's own comparison of strings takes an "é" and an "e" with a
/// combining accent for the same, which JSON does not. The work is linear in the number of members.
func firstRepeatedMember(nodes: [Node], bytes: [UInt8]) -> Int? {
    for object in nodes.indices where nodes[object].kind == .object {
        let end = Int(nodes[object].next)
        var members = 0
        var child = object + 1
        while child < end, members <= pairwiseMembersMax {
            members += 1
            child = Int(nodes[child].next)
        }
        let repeated =
            members > pairwiseMembersMax
            ? repeatedByHash(in: object, nodes: nodes, bytes: bytes)
            : repeatedByPairs(in: object, nodes: nodes, bytes: bytes)
        if let repeated { return repeated }
    }
    return nil
}

private func repeatedByPairs(in object: Int, nodes: [Node], bytes: [UInt8]) -> Int? {
    let end = Int(nodes[object].next)
    var child = object + 1
    while child < end {
        var earlier = object + 1
        while earlier < child {
            if haveSameName(nodes[earlier], nodes[child], bytes: bytes) { return child }
            earlier = Int(nodes[earlier].next)
        }
        child = Int(nodes[child].next)
    }
    return nil
}

private func haveSameName(_ one: Node, _ other: Node, bytes: [UInt8]) -> Bool {
    guard !one.nameHasEscape, !other.nameHasEscape else {
        return one.name(in: bytes) == other.name(in: bytes)
    }
    return one.nameRange.count == other.nameRange.count && bytes[one.nameRange] == bytes[other.nameRange]
}

private func repeatedByHash(in object: Int, nodes: [Node], bytes: [UInt8]) -> Int? {
    let end = Int(nodes[object].next)
    let table = tableSize(from: object, to: end, nodes: nodes)
    // A new table for each object: emptying one that a large object has left behind would cost as much as that
    // object, each time. Slots hold nodes; 0 is free, since the outermost value has no name.
    var slots = [UInt32](repeating: 0, count: table)
    var child = object + 1
    while child < end {
        var slot = hash(nodes[child].name(in: bytes)) & (table - 1)
        while slots[slot] != 0 {
            if haveSameName(nodes[Int(slots[slot])], nodes[child], bytes: bytes) { return child }
            slot = (slot + 1) & (table - 1)
        }
        slots[slot] = UInt32(child)
        child = Int(nodes[child].next)
    }
    return nil
}

/// A power of two that leaves at least half of the slots free.
private func tableSize(from object: Int, to end: Int, nodes: [Node]) -> Int {
    var size = 2 * pairwiseMembersMax
    var members = 0
    var child = object + 1
    while child < end {
        members += 1
        if 2 * members > size { size *= 2 }
        child = Int(nodes[child].next)
    }
    return size
}

/// Hashes with the seed of the process, so that nobody can choose names that collide; by words, for speed.
private func hash(_ name: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    var word: UInt64 = 0
    var filled = 0
    for byte in name {
        word = word << 8 | UInt64(byte)
        filled += 1
        if filled & 7 == 0 {
            hasher.combine(word)
            word = 0
        }
    }
    hasher.combine(word)
    hasher.combine(filled)
    return hasher.finalize()
}
