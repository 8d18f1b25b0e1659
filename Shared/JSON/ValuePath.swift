/// A name in a path is cut after this many Unicode scalars.
private let nameScalarsMax = 64

/// The path from the outermost value to a node, as `message.apns.payload.aps.event` or `notifications[0].devices`.
///
/// It also serves while the text is being read: a node that is still open is taken to hold all that follows.
func valuePath(to target: Int, nodes: [Node], bytes: [UInt8]) -> String {
    var path = ""
    var current = 0
    while current < target {
        var child = current + 1
        var index = 0
        while Int(nodes[child].next) <= target {
            child = Int(nodes[child].next)
            index += 1
        }
        if nodes[current].kind == .object {
            appendName(String(decoding: nodes[child].name(in: bytes), as: UTF8.self), to: &path)
        } else {
            path += "[\(index)]"
        }
        current = child
    }
    return path
}

/// Adds a name to a path: bare where it is a plain word, else in brackets and quotes so that it stays one line.
func appendName(_ name: String, to path: inout String) {
    guard name.isEmpty || name.utf8.count > nameScalarsMax || !name.utf8.allSatisfy(isPlain) else {
        if !path.isEmpty { path += "." }
        path += name
        return
    }
    let scalars = name.unicodeScalars
    let kept = String(String.UnicodeScalarView(scalars.prefix(nameScalarsMax)))
    let mark = scalars.dropFirst(nameScalarsMax).isEmpty ? "" : "…"
    guard !kept.isEmpty, kept.utf8.allSatisfy(isPlain) else {
        path += "[\(JSONText.quote(kept + mark))]"
        return
    }
    path += (path.isEmpty ? "" : ".") + kept + mark
}

private func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"),
        UInt8(ascii: "$"):
        true
    default: false
    }
}
