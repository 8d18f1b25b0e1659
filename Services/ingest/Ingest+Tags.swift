import Contracts
import JSON
import Service

extension Ingest {
    /// Serves `getTags`: asks for the tags of the device that calls, or that a server names.
    mutating func getTags(_ call: HTTPCall, at now: Moment) -> Result<Served, Refusal> {
        let access = access
        let read = refusable { () throws(Refusal) -> (String, String) in
            let request = try PushwooshRequest(call.body)
            let application = try request.applicationOfEither(access, call)
            return (application.code, try request.members.requiredText("hwid"))
        }
        switch read {
        case .failure(let refusal): return .failure(refusal)
        case .success(let (application, device)):
            return ask(.segmenter, .tags(device: device), application: application, for: call, at: now) {
                call, content, _ in
                guard case .tags(let tags) = content else { return nil }
                let response = JSONWriter.object { response in
                    response.object("result") { result in
                        for (name, value) in tags.sorted(by: { $0.key < $1.key }) {
                            result.member(name, PlainTag(value))
                        }
                    }
                }
                return PushwooshAnswer.success(call, JSONRaw(response))
            }
        }
    }
}

/// A tag's value as the JSON value that set it.
private struct PlainTag: JSONWritable {
    private let value: TagValue

    init(_ value: TagValue) { self.value = value }

    func write(to writer: inout JSONWriter) {
        switch value {
        case .string(let text): text.write(to: &writer)
        case .integer(let number): number.write(to: &writer)
        case .number(let number): JSONRaw(Array(String(number).utf8)).write(to: &writer)
        case .boolean(let truth): truth.write(to: &writer)
        case .list(let members): members.write(to: &writer)
        }
    }
}
