/// Reads a JSON text once, from its first byte to its last, and lists its values.
///
/// It takes RFC 8259 and nothing more. Brackets are kept on a list of its own and not on the stack of calls, so
/// that no text can exhaust that.
struct Tokenizer {
    struct Fault: Error {
        var kind: JSONError.Kind
        var offset: Int
    }

    let bytes: [UInt8]
    let depthMax: Int
    var position = 0
    private var nodes: [Node] = []
    private var open: [Int] = []
    /// The node that an error names.
    private var focus = 0

    private init(bytes: [UInt8], depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    static func nodes(of bytes: [UInt8], depthMax: Int) throws(JSONError) -> [Node] {
        var tokenizer = Tokenizer(bytes: bytes, depthMax: depthMax)
        do throws(Fault) {
            try tokenizer.run()
        } catch {
            let path = valuePath(to: tokenizer.focus, nodes: tokenizer.nodes, bytes: bytes)
            throw JSONError(kind: error.kind, byteOffset: error.offset, path: path)
        }
        if let repeated = firstRepeatedMember(nodes: tokenizer.nodes, bytes: bytes) {
            let quote = Int(tokenizer.nodes[repeated].nameStart) - 1
            let path = valuePath(to: repeated, nodes: tokenizer.nodes, bytes: bytes)
            throw JSONError(kind: .repeatedMember, byteOffset: quote, path: path)
        }
        return tokenizer.nodes
    }

    private mutating func run() throws(Fault) {
        guard bytes.count < UInt32.max else { throw Fault(kind: .tooLarge, offset: 0) }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { throw Fault(kind: .byteOrderMark, offset: 0) }
        nodes.reserveCapacity(bytes.count / 16 + 1)
        skipSpace()
        try value(named: .none)
        while let container = open.last {
            try advance(in: container)
        }
        skipSpace()
        guard position == bytes.count else { throw fault(.trailingBytes) }
    }

    /// Takes the next step in an open array or object: its end, or its next value.
    private mutating func advance(in container: Int) throws(Fault) {
        focus = container
        skipSpace()
        let isObject = nodes[container].kind == .object
        let byte = try current()
        if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            position += 1
            open.removeLast()
            return finish(container)
        }
        if nodes.count - 1 > container {
            guard byte == UInt8(ascii: ",") else { throw fault(.expectedSeparator) }
            position += 1
            skipSpace()
        }
        try value(named: isObject ? name() : .none)
    }

    private mutating func name() throws(Fault) -> ScannedName {
        guard try current() == UInt8(ascii: "\"") else { throw fault(.expectedName) }
        let start = position + 1
        let hasEscape = try string()
        let end = position - 1
        skipSpace()
        guard try current() == UInt8(ascii: ":") else { throw fault(.expectedColon) }
        position += 1
        skipSpace()
        return ScannedName(range: start..<end, hasEscape: hasEscape)
    }

    private mutating func value(named name: ScannedName) throws(Fault) {
        focus = nodes.count
        nodes.append(Node(start: position, name: name))
        switch try current() {
        case UInt8(ascii: "{"): return try enter(.object)
        case UInt8(ascii: "["): return try enter(.array)
        case UInt8(ascii: "\""):
            nodes[focus].kind = .string
            nodes[focus].hasEscape = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            nodes[focus].kind = .number
            try number()
        case UInt8(ascii: "t"): try literal("true", .bool)
        case UInt8(ascii: "f"): try literal("false", .bool)
        case UInt8(ascii: "n"): try literal("null", .null)
        default: throw fault(.expectedValue)
        }
        finish(focus)
    }

    private mutating func enter(_ kind: JSONValue.Kind) throws(Fault) {
        guard open.count < depthMax else { throw fault(.tooDeep) }
        nodes[focus].kind = kind
        open.append(focus)
        position += 1
    }

    private mutating func finish(_ node: Int) {
        nodes[node].end = UInt32(position)
        nodes[node].next = UInt32(nodes.count)
    }

    private mutating func literal(_ word: StaticString, _ kind: JSONValue.Kind) throws(Fault) {
        let start = position
        for letter in word.description.utf8 {
            guard position < bytes.count else { throw fault(.unexpectedEnd) }
            guard bytes[position] == letter else { throw Fault(kind: .invalidLiteral, offset: start) }
            position += 1
        }
        nodes[focus].kind = kind
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    func current() throws(Fault) -> UInt8 {
        guard position < bytes.count else { throw fault(.unexpectedEnd) }
        return bytes[position]
    }

    func fault(_ kind: JSONError.Kind) -> Fault {
        Fault(kind: kind, offset: position)
    }
}
