import Contracts
import JSON

/// Writes what a service that runs alone does as lines of standard output.
enum OutputLine {
    /// A message that the core sends.
    ///
    /// - Throws: `EncodingError` if the body cannot be written.
    static func message(_ message: Message, to route: Route, coder: ParcelCoder) throws -> [UInt8] {
        let body = JSONRaw([UInt8](try coder.body(message)))
        let payload = message.payload
        return JSONWriter.object { line in
            line.member("type", message.type.rawValue)
            line.member("to", route.text)
            line.member("body", body)
            line.raw("contentState", payload.contentState)
            line.raw("attributes", payload.attributes)
            line.raw("alert", payload.alert)
        } + [UInt8(ascii: "\n")]
    }

    /// Something that the core asks of its adapter.
    ///
    /// - Throws: what the output's own writing throws.
    static func output(_ output: any LineWritable) throws -> [UInt8] {
        let body = JSONRaw(try output.lineBody())
        return JSONWriter.object { line in
            line.member("type", output.lineType)
            line.member("body", body)
        } + [UInt8(ascii: "\n")]
    }
}

extension Route {
    fileprivate var text: String {
        switch self {
        case .service(let service): service.rawValue
        case .instance(let instance): instance.description
        }
    }
}

extension JSONWriter {
    fileprivate mutating func raw(_ name: String, _ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        member(name, String(decoding: bytes, as: UTF8.self))
    }
}
