import JSON

extension ValueSchema {
    /// The `request` around everything at the Pushwoosh door.
    static func request(_ members: [Member], isOpen: Bool = false, rules: [ValueSchema] = []) -> ValueSchema {
        .object([.must("request", .object(members, isOpen: isOpen, rules: rules))], isOpen: true)
    }

    fileprivate static func names(_ description: String, countMin: Int = 1) -> ValueSchema {
        .list(.text, counts: countMin...PushwooshNotifications.listCountMax, description)
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
                .may("devices", .names("Hardware ids or push tokens; ignored beside users.", countMin: 0)),
                .may("users", .names("User ids.")),
                .may("channel", .channel("The broadcast channel to bind the activity to.")),
            ],
            rules: [
                .oneOf([.has("live_activity"), .has("ios_live_activity")]),
                .oneOf([
                    .has("filter"), .has("filter_code"), .has("users"),
                    ValueSchema {
                        $0.member("required", ["devices"])
                        $0.member("not", ValueSchema.has("users"))
                        $0.object("properties") { $0.object("devices") { $0.member("minItems", 1) } }
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
            (
                "users",
                #"{"title":"Food Delivery","ios_live_activity":{"content-state":{},"attributes-type":"A","#
                    + #""attributes":{},"input-push-channel":"dHN0LXNyY2gtY2hubA==","#
                    + #""alert":{"title":{"loc-key":"T","loc-args":["x"]}}},"#
                    + #""live_activity_id":"SECOND_LIVE_ACTIVITY","users":["user-1"],"devices":["first_device"]}"#
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
                .may("channel", .channel("A broadcast channel, in the place of the id.")),
            ],
            rules: [
                .oneOf([.has("live_activity"), .has("ios_live_activity")]),
                .oneOf([
                    .has("channel"), .anyOf([.has("live_activity_id"), .has("live_activity_push_tokens")]),
                ]),
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
            (
                "tokens",
                #"{"ios_live_activity":{"event":"update","content-state":{},"timestamp":1700000000},"#
                    + #""live_activity_push_tokens":["a1b2c3d4","<E5F6 a7b8>"]}"#
            ),
        ])
}
