import JSON

extension ValueSchema {
    /// The `request` around everything at the Pushwoosh door.
    static func request(_ members: [Member], isOpen: Bool = false, rules: [ValueSchema] = []) -> ValueSchema {
        .object([.must("request", .object(members, isOpen: isOpen, rules: rules))], isOpen: true)
    }

    fileprivate static func names(_ description: String) -> ValueSchema {
        .list(.text, counts: 1...PushwooshNotifications.listCountMax, description)
    }
}

extension CallDescription.Answer {
    /// What the Pushwoosh door answers to a call: the response, or why there is none.
    static func pushwoosh(_ response: ValueSchema) -> [CallDescription.Answer] {
        let success = ValueSchema.object([
            .must("status_code", .integer(200...200)), .must("status_message", .word(["OK"])),
            .must("response", response),
        ])
        return [
            .init(
                status: 200, meaning: "Accepted; or status_code 210 with what is wrong with an argument.",
                schema: .oneOf([success, .named("PushwooshRefusal")])),
            .init(status: 400, meaning: "Not JSON.", schema: .named("PushwooshRefusal")),
            .init(
                status: 422, meaning: "The Idempotency-Key came before with another body.",
                schema: .named("PushwooshRefusal")),
            .init(
                status: 503, meaning: "Nothing was accepted; come again after Retry-After.",
                schema: .named("PushwooshRefusal")),
        ]
    }
}

extension CallDescription {
    private static func notify(
        _ summary: String, _ details: String?, _ notification: ValueSchema,
        _ examples: [(name: String, body: String)]
    ) -> CallDescription {
        CallDescription(
            summary: summary, details: details, credential: .inBody,
            request: Request(
                schema: .request([
                    .must("application", .text), .must("auth", .string()),
                    .must(
                        "notifications",
                        .list(
                            notification, counts: 1...PushwooshNotifications.countMax,
                            "All are accepted, or none.")),
                ]),
                examples: examples.map { example in
                    (
                        example.name,
                        #"{"request":{"application":"AAAAA-00001","auth":"API-TOKEN","notifications":[\#(example.body)]}}"#
                    )
                }),
            answers: Answer.pushwoosh(.object([.must("Messages", .list(.string("A message's code.")))])))
    }

    static let startLiveActivity = notify(
        "Starts a Live Activity on devices, users or all that match a filter.",
        "Without live_activity.alert an alert is made of title (or live_activity.title) and content; one is needed. "
            + "The same start again is answered with the same code; another one for a running id is refused.",
        .object(
            [
                .may("content", .string("What a phone gets that cannot be started.")),
                .may("title", .string()),
                .may("live_activity", .named("PushwooshStart")),
                .may("ios_live_activity", .named("PushwooshStart")), .must("live_activity_id", .text),
                .may("filter", .text), .may("filter_code", .text),
                .may("devices", .names("Hardware ids or push tokens; ignored beside users.")),
                .may("users", .names("User ids.")),
            ],
            rules: [
                .oneOf([.has("live_activity"), .has("ios_live_activity")]),
                .oneOf([
                    .has("filter"), .has("filter_code"), .has("users"),
                    ValueSchema {
                        $0.member("required", ["devices"])
                        $0.member("not", ValueSchema.has("users"))
                    },
                ]),
            ]),
        [
            (
                "devices",
                #"{"content":"Your order is being prepared","title":"Food Delivery","live_activity":{"event":"start","#
                    + #""title":"Order status","content-state":{"status":"Third"},"#
                    + #""attributes-type":"FoodDeliveryAttributes","attributes":{},"stale-date":4000003600,"#
                    + #""relevance-score":60,"alert":{"title":"Food Delivery","body":"Started","sound":"default"}},"#
                    + #""live_activity_id":"SECOND_LIVE_ACTIVITY","devices":["first_device","second_device"]}"#
            ),
            (
                "filter",
                #"{"content":"Your order is being prepared","live_activity":{"content-state":{"status":"Third"},"#
                    + #""attributes-type":"FoodDeliveryAttributes","attributes":{}},"#
                    + #""live_activity_id":"FIRST_LIVE_ACTIVITY","filter":"FILTER_NAME_1"}"#
            ),
        ])

    static let updateLiveActivity = notify(
        "Updates or ends a Live Activity on every device where it runs.",
        "One state waits for each device at most; a newer one takes its place.",
        .object(
            [
                .may("live_activity", .named("PushwooshChange")),
                .may("ios_live_activity", .named("PushwooshChange")), .may("live_activity_id", .text),
                .may(
                    "live_activity_push_tokens",
                    .list(
                        .token, counts: 1...PushwooshNotifications.listCountMax,
                        "Each is a message of its own.")),
            ],
            rules: [
                .oneOf([.has("live_activity"), .has("ios_live_activity")]),
                .anyOf([.has("live_activity_id"), .has("live_activity_push_tokens")]),
            ]),
        [
            (
                "update",
                #"{"live_activity":{"event":"update","title":"Live Activity Update","content-state":"#
                    + #"{"status":"second 66"},"relevance-score":60},"live_activity_id":"FIRST_LIVE_ACTIVITY"}"#
            ),
            (
                "end",
                #"{"live_activity":{"event":"end","content-state":{"status":"done"},"dismissal-date":0},"#
                    + #""live_activity_id":"FIRST_LIVE_ACTIVITY"}"#
            ),
        ])

    static let listMessages = CallDescription(
        summary: "Shows the messages behind some codes, as far as they are the caller's.",
        details: "date_range, source and platforms narrow them down. All may stand in a request.",
        credential: .anyScheme,
        request: Request(
            schema: .object(
                [
                    .must(
                        "filters",
                        .object([
                            .may("application", .string().orNull()),
                            .must("messages_codes", .list(.text, counts: 1...MessageList.countMax)),
                            .may(
                                "date_range",
                                .object([.must("date_from", .named("Day")), .must("date_to", .named("Day"))])
                                    .orNull()),
                            .may("source", .string("Others than API match nothing.").orNull()),
                            .may("platforms", .list(.text, counts: 0...MessageList.countMax).orNull()),
                        ])),
                    .may(
                        "params",
                        .object(
                            [
                                .may("with_metrics", .boolean().orNull()),
                                .may("with_details", .boolean().orNull()),
                            ], isOpen: true
                        ).orNull()),
                    .may("per_page", .integer(1...Int64(MessageList.countMax)).orNull()),
                    .may("page", .integer(1...Int64(MessageList.countMax)).orNull()),
                ], isOpen: true),
            examples: [
                (
                    "codes",
                    #"{"filters":{"application":"AAAAA-00001","messages_codes":["C3F8-C3863ED4-334AD4F1"],"#
                        + #""date_range":{"date_from":"2000-01-01","date_to":"2100-01-01"},"source":"API","#
                        + #""platforms":["IOS"]},"params":{"with_metrics":true,"with_details":true},"per_page":10,"page":1}"#
                )
            ]),
        answers: [
            Answer(
                status: 200, meaning: "The messages.",
                schema: .object([
                    .must("items", .list(.named("ListedMessage"))), .must("total", Description.count),
                ]))
        ] + Answer.own(400, 401, 503))
}
