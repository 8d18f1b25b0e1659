import JSON

extension CallDescription {
    static let listMessages = CallDescription(
        summary: "Shows the messages behind some codes, as far as they are the caller's.",
        details: "date_range, source and platforms narrow them down. All may stand in a request.",
        credential: .anyScheme,
        request: Request(
            schema: .oneOf([
                .object(wanted, isOpen: true, rules: [.hasNot("request")]), .request(wanted, isOpen: true),
            ]), examples: [("codes", example), ("request", #"{"request":\#(example)}"#)]),
        answers: [
            Answer(
                status: 200, meaning: "The messages.",
                schema: .object([
                    .must("items", .list(.named("ListedMessage"))), .must("total", Description.count),
                ]))
        ] + Answer.own(400, 401, 503))

    private static let wanted: [ValueSchema.Member] = [
        .must("filters", filters),
        .may(
            "params",
            .object(
                [.may("with_metrics", .boolean().orNull()), .may("with_details", .boolean().orNull())],
                isOpen: true
            ).orNull()), .may("per_page", .integer(1...Int64(MessageList.countMax)).orNull()),
        .may("page", .integer(1...Int64(MessageList.countMax)).orNull()),
    ]

    private static let filters = ValueSchema.object([
        .may("application", .string().orNull()),
        .must("messages_codes", .list(.text, counts: 1...MessageList.countMax)),
        .may(
            "date_range",
            .object([.must("date_from", .named("Day")), .must("date_to", .named("Day"))]).orNull()),
        .may("source", .string("Others than API match nothing.").orNull()),
        .may("platforms", .list(.text, counts: 0...MessageList.countMax).orNull()),
    ])

    private static let example =
        #"{"filters":{"application":"AAAAA-00001","messages_codes":["C3F8-C3863ED4-334AD4F1"],"#
        + #""date_range":{"date_from":"2000-01-01","date_to":"2100-01-01"},"source":"API","platforms":["IOS"]},"#
        + #""params":{"with_metrics":true,"with_details":true},"per_page":10,"page":1}"#
}
