import FoundationEssentials
import JSON
import Testing

@testable import ingest

/// The description of the doors says what the doors do.
@Suite struct DescriptionTests {
    private static let document = Result { try JSONDocument(Description.document) }
    private static let bodies = Operation.allCases.filter {
        $0.description.request?.type == "application/json"
    }

    private static func root() throws -> JSONValue { try document.get().root }

    private static func checker() throws -> SchemaChecker {
        SchemaChecker(components: try #require(try root()["components"]?["schemas"]))
    }

    private static func described(_ operation: Operation) throws -> JSONValue {
        let route = operation.route
        return try #require(try root()["paths"]?[route.path]?[route.method.lowercased()])
    }

    private static func schema(_ operation: Operation) throws -> JSONValue {
        try #require(
            try described(operation)["requestBody"]?["content"]?["application/json"]?["schema"])
    }

    @Test func `it is served to anybody`() throws {
        let reply = try Bench().call("GET", "/openapi.json")
        #expect(reply.status == 200)
        #expect(reply.header("Content-Type")?.hasPrefix("application/json") == true)
        #expect(reply.json?["openapi"]?.string == "3.1.0")
    }

    @Test func `each route is in it, and nothing else`() throws {
        let paths = try #require(try DescriptionTests.root()["paths"]?.members)
        let described = paths.flatMap { path, calls in
            calls.members?.map { "\($0.name.uppercased()) \(path) \($0.value["operationId"]?.string ?? "")" }
                ?? []
        }
        let served = Operation.allCases.map { "\($0.route.method) \($0.route.path) \($0.rawValue)" }
        #expect(described.sorted() == served.sorted())
    }

    @Test func `each route leads to its call, and no path to two`() throws {
        for operation in Operation.allCases {
            let parts = operation.route.path.split(separator: "/").map(String.init)
            let call = HTTPCall(id: 1, method: operation.route.method, path: parts)
            #expect(try Operation.find(call) == operation)
        }
    }

    @Test func `its schemas use words that are checked, and name only what is there`() throws {
        let checker = try DescriptionTests.checker()
        var schemas = try #require(checker.components.members?.map(\.value))
        for operation in Operation.allCases {
            let call = try DescriptionTests.described(operation)
            if let body = call["requestBody"]?["content"]?.members?.first?.value["schema"] {
                schemas.append(body)
            }
            for (_, answer) in try #require(call["responses"]?.members) {
                schemas.append(try #require(answer["content"]?["application/json"]?["schema"]))
            }
        }
        for schema in schemas { try check(schema, checker) }
    }

    private func check(_ schema: JSONValue, _ checker: SchemaChecker) throws {
        let known = SchemaChecker.words.union(["description"])
        for (word, rule) in try #require(schema.members) {
            #expect(known.contains(word), "\(schema.path)")
            switch word {
            case "$ref":
                let name = try #require(rule.string?.split(separator: "/").last.map(String.init))
                #expect(checker.components[name] != nil, "\(name)")
            case "properties": for (_, member) in try #require(rule.members) { try check(member, checker) }
            case "items", "not", "propertyNames": try check(rule, checker)
            case "additionalProperties" where rule.kind == .object: try check(rule, checker)
            case "oneOf", "anyOf", "allOf": for one in try #require(rule.elements) { try check(one, checker) }
            default: continue
            }
        }
    }

    @Test func `the README names every call, every member of a push and every header`() throws {
        let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../README.md")
        let text = try String(contentsOf: readme, encoding: .utf8)
        for operation in Operation.allCases {
            let route = operation.route
            let name = route.path.hasPrefix("/json/1.3/") ? operation.rawValue : route.path
            let isShort = operation == .resume
            #expect(text.contains(isShort ? "/resume" : name), "\(name)")
        }
        let members = PayloadRule.table.map(\.name) + FirebaseHeaders.known.sorted()
        for name in members { #expect(text.contains("`\(name)`"), "\(name)") }
    }

    /// What a call that was answered must have been answered with.
    private func checkAnswer(_ reply: HTTPReply, _ operation: Operation, _ body: String) throws {
        let answer = try DescriptionTests.described(operation)["responses"]?[String(reply.status)]
        let schema = answer?["content"]?["application/json"]?["schema"]
        guard let schema, let json = reply.json else {
            Issue.record("\(operation.rawValue): \(reply.status) is not described: \(body)")
            return
        }
        #expect(try DescriptionTests.checker().faults(json, schema) == [], "\(reply.text)")
    }

    @Test(arguments: Operation.allCases)
    func `an example is accepted and answered as described`(_ operation: Operation) throws {
        var examples = operation.description.request?.examples.map(\.body) ?? [""]
        if operation == .signIn { examples = [try ServiceAccount.shared.get().form()] }
        #expect(!examples.isEmpty)
        for example in examples {
            let rehearsal = try Rehearsal()
            try rehearsal.prepare(operation)
            let body = Rehearsal.body(example)
            if operation.description.request?.type == "application/json" {
                let schema = try DescriptionTests.schema(operation)
                #expect(try DescriptionTests.checker().faults(JSONDocument(text: body).root, schema) == [])
            }
            let reply = try #require(try rehearsal.call(operation, body))
            #expect(reply.isAccepted, "\(reply.text)")
            try checkAnswer(reply, operation, body)
        }
    }

    /// What a schema cannot know: the door alone refuses it.
    private static let beyondSchemas = [
        "not found", "auth:", "there is no such filter", "no activity of this id is running",
        "an activity of this id is already running", "a start needs an alert", "needs a title beside it",
        "is needed", "filter_expression:", "devices_filter:", "conditions", "must lie", "must not lie",
        "only one of", "must have a title or a body", "must be the Live Activity topic",
    ]

    @Test(arguments: bodies)
    func `whatever is changed in an example, schema and door agree`(_ operation: Operation) throws {
        let (checker, schema) = (try DescriptionTests.checker(), try DescriptionTests.schema(operation))
        var refused = 0
        for example in operation.description.request?.examples ?? [] {
            let tree = JSONTree(try JSONDocument(text: Rehearsal.body(example.body)).root)
            var rehearsal = try Rehearsal()
            try rehearsal.prepare(operation)
            for body in tree.changed.map(\.text) {
                let isValid = checker.accepts(try JSONDocument(text: body).root, schema)
                let reply = try #require(try rehearsal.call(operation, body))
                try checkAnswer(reply, operation, body)
                guard reply.isAccepted else {
                    refused += 1
                    let isBeyond = DescriptionTests.beyondSchemas.contains { reply.problem.contains($0) }
                    #expect(!isValid || isBeyond, "\(reply.problem): \(body)")
                    continue
                }
                #expect(isValid, "accepted: \(body)")
                rehearsal = try Rehearsal()
                try rehearsal.prepare(operation)
            }
        }
        #expect(refused > 10)
    }

    @Test func `what may be answered to the wrong caller is described too`() throws {
        for operation in Operation.allCases where operation.description.credential == .bearer {
            let rehearsal = try Rehearsal()
            let example = operation.description.request?.examples.first?.body ?? ""
            let reply = try #require(try rehearsal.call(operation, example, token: "none"))
            #expect(reply.status == 401)
            try checkAnswer(reply, operation, "")
        }
    }
}
