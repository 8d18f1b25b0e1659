extension JSONValue {
    /// The elements of an array in their order; `nil` for every other kind.
    public var elements: JSONElements? {
        kind == .array ? JSONElements(storage: storage, container: index) : nil
    }

    /// The members of an object in their order; `nil` for every other kind.
    public var members: JSONMembers? {
        kind == .object ? JSONMembers(values: JSONElements(storage: storage, container: index)) : nil
    }
}

/// A place in ``JSONElements`` or ``JSONMembers``.
public struct JSONIndex: Comparable, Sendable {
    let node: Int

    /// Whether one place comes before another.
    public static func < (one: JSONIndex, other: JSONIndex) -> Bool { one.node < other.node }
}

/// The values that stand directly in an array or object.
///
/// `count` walks over all of them; nothing is allocated.
public struct JSONElements: Collection, Sendable {
    let storage: JSONDocument.Storage
    let container: Int

    /// The place of the first element.
    public var startIndex: JSONIndex { JSONIndex(node: container + 1) }

    /// The place after the last element.
    public var endIndex: JSONIndex { JSONIndex(node: Int(storage.nodes[container].next)) }

    /// The place after another one, however much stands in between.
    public func index(after place: JSONIndex) -> JSONIndex {
        JSONIndex(node: Int(storage.nodes[place.node].next))
    }

    /// The element at a place of this collection.
    public subscript(place: JSONIndex) -> JSONValue {
        JSONValue(storage: storage, index: place.node)
    }
}

/// The members of an object with their names.
///
/// Names are unescaped. Swift's `==` on strings goes by canonical equivalence and so takes a Kelvin sign for a "K";
/// where that matters look a member up by its name, which compares bytes.
public struct JSONMembers: Collection, Sendable {
    let values: JSONElements

    /// The place of the first member.
    public var startIndex: JSONIndex { values.startIndex }

    /// The place after the last member.
    public var endIndex: JSONIndex { values.endIndex }

    /// The place after another one.
    public func index(after place: JSONIndex) -> JSONIndex { values.index(after: place) }

    /// The member at a place of this collection.
    public subscript(place: JSONIndex) -> (name: String, value: JSONValue) {
        let value = values[place]
        let name = value.node.name(in: value.storage.bytes)
        return (String(decoding: name, as: UTF8.self), value)
    }
}
