import JSON

extension CallDescription {
    private static let base: [ValueSchema.Member] = [
        .may("application", ValueSchema.text.orNull()), .must("auth", .string()),
    ]
    private static let conditions = ValueSchema.list(
        .list(.anything, counts: 2...3, "A tag, an operator and what it is compared with."),
        counts: 1...PushwooshFilters.conditionsMax)
    private static let joiner = ValueSchema.pattern(
        "^(?:[Aa][Nn][Dd]|[Oo][Rr])$", "How conditions are joined; AND.")
    private static let expression = ValueSchema.string("In the language of filters.")

    private static func filters(
        _ summary: String, details: String? = nil, _ members: [ValueSchema.Member], rules: [ValueSchema] = [],
        response: ValueSchema, examples: [(name: String, body: String)]
    ) -> CallDescription {
        CallDescription(
            summary: summary, details: details, credential: .inBody,
            request: Request(
                schema: .request(base + members, rules: rules),
                examples: examples.map { example in
                    (
                        example.name,
                        #"{"request":{"application":"AAAAA-00001","auth":"API-TOKEN"\#(example.body)}}"#
                    )
                }),
            answers: Answer.pushwoosh(response))
    }

    static let createFilter = filters(
        "Keeps a filter under a name.",
        details: "application may be missing where auth is for one application only.",
        [
            .must("name", .text), .may("filter_expression", expression.orNull()),
            .may("conditions", conditions.orNull()), .may("operator", joiner.orNull()),
            .may("expiration_date", ValueSchema.named("Day").orNull()),
        ], rules: [.anyOf([.has("filter_expression"), .has("conditions")])],
        response: .object([.must("name", .string()), .must("code", .string())]),
        examples: [
            (
                "expression",
                #","name":"FILTER_NAME_1","filter_expression":"T(\"level\", EQ, \"vip\")","expiration_date":"2100-01-01""#
            ),
            ("conditions", #","name":"FILTER_NAME_2","conditions":[["level","EQ","vip"]],"operator":"AND""#),
        ])

    static let compileFilter = filters(
        "Says how many devices a filter would match now.",
        [
            .may("name", .anything), .may("filter_expression", expression.orNull()),
            .may("devices_filter", expression.orNull()), .may("conditions", conditions.orNull()),
            .may("operator", joiner.orNull()),
        ], rules: [.anyOf([.has("filter_expression"), .has("devices_filter"), .has("conditions")])],
        response: .object([.must("count", Description.count), .must("filter_expression", .string())]),
        examples: [
            ("expression", #","filter_expression":"T(\"level\", EQ, \"vip\")""#),
            ("devices_filter", #","devices_filter":"T(\"level\", EQ, \"vip\")""#),
        ])

    static let listFilters = filters(
        "Shows the filters of an application.", [],
        response: .object([
            .must(
                "filters",
                .list(
                    .object([
                        .must("code", .string()), .must("name", .string()),
                        .must("filter_expression", .string()),
                        .must("expiration_date", ValueSchema.named("Day").orNull()),
                        .must("application", .string()),
                    ])))
        ]),
        examples: [("all", "")])

    static let deleteFilter = filters(
        "Takes a filter away; what was started with it goes on.", [.must("name", .text)], response: .null,
        examples: [("name", #","name":"FILTER_NAME_1""#)])
}
