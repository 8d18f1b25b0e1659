import JSON

/// A JSON text that can be taken apart and changed at any place.
indirect enum JSONTree {
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])
    case scalar(String)

    init(_ value: JSONValue) {
        if let members = value.members {
            self = .object(members.map { ($0.name, JSONTree($0.value)) })
        } else if let elements = value.elements {
            self = .array(elements.map(JSONTree.init))
        } else {
            self = .scalar(String(decoding: value.bytes, as: UTF8.self))
        }
    }

    var text: String {
        switch self {
        case .object(let members):
            "{\(members.map { "\(JSONText.quote($0.name)):\($0.value.text)" }.joined(separator: ","))}"
        case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
        case .scalar(let text): text
        }
    }

    /// One value of each kind, and some that say nothing.
    private static let others = ["null", "true", "7", "-1", #""x""#, #""""#, #""   ""#, "[]", "{}"]

    /// The tree with one change, for each change: a value replaced, a member left out, an unknown one put in.
    var changed: [JSONTree] {
        JSONTree.others.map(JSONTree.scalar) + within
    }

    private var within: [JSONTree] {
        switch self {
        case .scalar: return []
        case .array(let elements):
            return elements.indices.flatMap { index in
                elements[index].changed.map { change in
                    var copy = elements
                    copy[index] = change
                    return JSONTree.array(copy)
                }
            }
        case .object(let members):
            let more = JSONTree.object(members + [("zz", .scalar("1"))])
            return [more]
                + members.indices.flatMap { index -> [JSONTree] in
                    var rest = members
                    rest.remove(at: index)
                    return [.object(rest)]
                        + members[index].value.changed.map { change in
                            var copy = members
                            copy[index].value = change
                            return .object(copy)
                        }
                }
        }
    }
}
