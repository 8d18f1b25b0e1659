import Contracts
import FoundationEssentials
import JSON

/// One line of standard input, understood.
enum InputLine<External: Sendable> {
    /// A message from a neighbour.
    case message(Message, from: Sender)
    /// An event of the adapter's.
    case external(External)
    /// The manual clock moves on.
    case advance(milliseconds: Int64)

    /// The farthest one line moves the clock, in seconds: ten years.
    static var advanceSecondsMax: Double { 315_360_000 }

    /// Reads a line.
    ///
    /// - Throws: `LineError` with what is wrong, without the line's content.
    init(_ bytes: [UInt8], for service: ServiceName, coder: ParcelCoder) throws(LineError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes)
        } catch {
            throw LineError("not JSON: \(error)")
        }
        let root = document.root
        guard root.kind == .object else { throw LineError("must be an object") }
        if let advance = root["advance"] {
            self = try InputLine.advance(advance, root)
            return
        }
        guard let type = root["type"]?.string else { throw LineError("type is missing or no string") }
        guard let body = root["body"] else { throw LineError("body is missing") }
        if let external = try InputLine.external(type, body) {
            try root.refuseMembers(besides: ["type", "body"])
            self = .external(external)
            return
        }
        guard let type = MessageType(rawValue: type) else { throw LineError("type is unknown") }
        let message = try InputLine.message(type, body, root, coder)
        guard message.isPlausible else { throw LineError("a number or time cannot be reckoned with") }
        self = .message(message, from: try InputLine.sender(root["from"], type, service))
    }

    private static func advance(_ value: JSONValue, _ root: JSONValue) throws(LineError) -> InputLine {
        try root.refuseMembers(besides: ["advance"])
        guard let seconds = value.double, (0...advanceSecondsMax).contains(seconds) else {
            throw LineError("advance must be a number of seconds from 0 to \(Int64(advanceSecondsMax))")
        }
        return .advance(milliseconds: Int64((seconds * 1000).rounded()))
    }

    private static func external(_ type: String, _ body: JSONValue) throws(LineError) -> External? {
        guard let readable = External.self as? any LineReadable.Type, readable.lineTypes.contains(type) else {
            return nil
        }
        do {
            return try readable.init(lineType: type, body: body) as? External
        } catch {
            throw LineError("body: \(error)")
        }
    }

    private static func message(
        _ type: MessageType, _ body: JSONValue, _ root: JSONValue, _ coder: ParcelCoder
    ) throws(LineError) -> Message {
        let raw = type.carriesPayload ? ["contentState", "attributes", "alert"] : []
        try root.refuseMembers(besides: ["type", "body", "from"] + raw)
        let array = [UInt8(ascii: "[")] + body.bytes + [UInt8(ascii: "]")]
        let messages: [Message]
        do {
            messages = try coder.decodeBodies(type, Data(array))
        } catch {
            throw LineError("body: \(error.place)")
        }
        guard var message = messages.first else { throw LineError("body is no \(type.rawValue)") }
        guard type.carriesPayload else { return message }
        message.payload = Payload(
            contentState: try root.rawMember("contentState"), attributes: try root.rawMember("attributes"),
            alert: try root.rawMember("alert"))
        return message
    }

    private static func sender(
        _ value: JSONValue?, _ type: MessageType, _ service: ServiceName
    ) throws(LineError) -> Sender {
        guard let value else { return Sender(InstanceName(type.usualSender(to: service)), epoch: 1) }
        guard let instance = value.string.flatMap({ InstanceName($0) }) else {
            throw LineError("from is no instance, such as \(service.neighbours[0].rawValue).1")
        }
        return Sender(instance, epoch: 1)
    }
}

extension MessageType {
    /// Who sends such messages to a service, unless a line says otherwise.
    fileprivate func usualSender(to service: ServiceName) -> ServiceName {
        switch self {
        case .registration, .registrations, .command, .query: .ingest
        case .batch: .segmenter
        case .targets, .retarget, .taken, .settled, .fact, .answer: .tokenRegistry
        case .pushes: .rateLimiter
        case .report: .apnsGateway
        case .busy: service == .ingest ? .segmenter : .tokenRegistry
        case .noted: service == .tokenRegistry || service == .segmenter ? .ingest : .tokenRegistry
        case .hello: service.neighbours[0]
        }
    }
}

extension JSONValue {
    fileprivate func refuseMembers(besides known: [String]) throws(LineError) {
        guard let members else { return }
        for member in members where !known.contains(member.name) {
            throw LineError("unknown member \(path(of: member.name))")
        }
    }

    /// A member that is a string which holds a JSON text; empty where it is absent.
    fileprivate func rawMember(_ name: String) throws(LineError) -> [UInt8] {
        guard let member = self[name] else { return [] }
        guard let text = member.string else { throw LineError("\(name) must be a string that holds JSON") }
        do {
            return try JSONDocument(text: text).bytes
        } catch {
            throw LineError("\(name) holds no JSON: \(error)")
        }
    }
}

extension Error {
    /// Where decoding failed, and why, without a value.
    fileprivate var place: String {
        guard let error = self as? DecodingError else { return "does not decode" }
        switch error {
        case .typeMismatch(_, let context): return "\(context.codingPath.text) has the wrong type"
        case .valueNotFound(_, let context): return "\(context.codingPath.text) is null"
        case .keyNotFound(let key, let context):
            return "\((context.codingPath + [key]).text) is missing"
        case .dataCorrupted(let context): return "\(context.codingPath.text) is wrong"
        @unknown default: return "does not decode"
        }
    }
}

extension [any CodingKey] {
    /// The path, without the array that the coder puts around a body.
    fileprivate var text: String {
        let words = dropFirst().map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return words.isEmpty ? "it" : words.joined(separator: ".")
    }
}
