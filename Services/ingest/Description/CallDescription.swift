import JSON

/// What the description of the doors says of one call.
struct CallDescription: Sendable {
    /// What it does, in one sentence.
    var summary: String
    /// What its limits are, where schemas do not say it.
    var details: String?
    var credential: Credential
    var query: [Query] = []
    var request: Request?
    var answers: [Answer]

    /// How a caller says who it is.
    enum Credential: Sendable {
        /// Anybody may call.
        case nobody
        /// `auth` in the body.
        case inBody
        /// `Authorization: Token …` with a device token, where the application has any.
        case device
        /// `Authorization: Bearer …` with an API token or one of `/token`.
        case bearer
        /// The API token in `Authorization`, behind any scheme or none.
        case anyScheme
    }

    /// An item behind the question mark of a path.
    struct Query: Sendable {
        var name: String
        var schema: ValueSchema
    }

    /// A body.
    struct Request: Sendable {
        var type = "application/json"
        var schema: ValueSchema
        /// Bodies that are accepted, by a word for each; JSON, or a form as it is sent.
        var examples: [(name: String, body: String)]
        var isRequired = true
    }

    /// What may be answered.
    struct Answer: Sendable {
        var status: Int
        var meaning: String
        var schema: ValueSchema
    }
}

extension CallDescription {
    /// Writes the call as OpenAPI has it.
    func write(_ operation: Operation, to writer: inout JSONWriter) {
        writer.object(operation.route.method.lowercased()) { call in
            call.member("operationId", operation.rawValue)
            call.member(
                "tags", [Door(path: operation.route.path.split(separator: "/").map(String.init)).rawValue])
            call.member("summary", summary)
            if let details { call.member("description", details) }
            call.array("security") { credential.write(to: &$0) }
            let parameters = self.parameters(of: operation.route)
            if !parameters.isEmpty { call.member("parameters", parameters) }
            request?.write(to: &call)
            call.object("responses") { list in
                for answer in answers { answer.write(to: &list) }
            }
        }
    }

    private func parameters(of route: HTTPRoute) -> [ValueSchema] {
        var list = route.parameters.map { CallDescription.parameter($0, in: "path", .text) }
        list += query.map { CallDescription.parameter($0.name, in: "query", $0.schema) }
        if answers.contains(where: { $0.status == 422 }) {
            let key = ValueSchema.pattern("^[!-~]+$", lengthMax: Ingest.keyBytesMax)
            list.append(CallDescription.parameter(Ingest.keyHeader, in: "header", key))
        }
        return list
    }

    private static func parameter(_ name: String, in place: String, _ schema: ValueSchema) -> ValueSchema {
        ValueSchema {
            $0.member("name", name)
            $0.member("in", place)
            $0.member("required", place == "path")
            $0.member("schema", schema)
        }
    }
}

extension CallDescription.Request {
    fileprivate func write(to call: inout JSONWriter) {
        call.object("requestBody") { body in
            body.member("required", isRequired)
            body.object("content") { content in
                content.object(type) { media in
                    media.member("schema", schema)
                    guard !examples.isEmpty else { return }
                    media.object("examples") { list in
                        for example in examples {
                            list.object(example.name) { value in
                                if type == "application/json" {
                                    value.member("value", JSONRaw(Array(example.body.utf8)))
                                } else {
                                    value.member("value", example.body)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

extension CallDescription.Answer {
    fileprivate func write(to list: inout JSONWriter) {
        list.object(String(status)) { answer in
            answer.member("description", meaning)
            answer.object("content") { content in
                content.object("application/json") { $0.member("schema", schema) }
            }
        }
    }
}

extension CallDescription.Credential {
    fileprivate func write(to list: inout JSONWriter) {
        switch self {
        case .nobody, .inBody: return
        case .device:
            list.object { $0.array("deviceToken") { _ in } }
            list.object { _ in }
        case .bearer: list.object { $0.array("bearer") { _ in } }
        case .anyScheme: list.object { $0.array("apiToken") { _ in } }
        }
    }
}
