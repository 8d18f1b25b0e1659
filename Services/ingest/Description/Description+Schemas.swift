import Contracts
import JSON

extension Description {
    /// What several calls have in common, by its name under `components`.
    static let schemas: [(String, ValueSchema)] = [
        ("Text", text), ("Token", token), ("Seconds", .integer(0...(Seconds.secondsEnd - 1), "Since 1970.")),
        ("Alert", alert), ("AlertWords", alertWords),
        ("PushwooshStart", PayloadRule.schema(.start, .pushwooshStart)),
        ("PushwooshUpdate", PayloadRule.schema(.update, .pushwooshUpdate)),
        ("PushwooshEnd", PayloadRule.schema(.end, .pushwooshUpdate)),
        ("PushwooshChange", .oneOf([.named("PushwooshUpdate"), .named("PushwooshEnd")])),
        ("FirebaseStart", PayloadRule.schema(.start, .firebase)),
        ("FirebaseUpdate", PayloadRule.schema(.update, .firebase)),
        ("FirebaseEnd", PayloadRule.schema(.end, .firebase)),
        ("TagValue", tagValue), ("TagChanges", tagChanges),
        ("PushwooshRefusal", pushwooshRefusal), ("FirebaseError", firebaseError),
        (
            "OwnError",
            .object([
                .must("error", .string("The member and what is wrong with it.")),
                .may("reason", .string("APNs' reason.")),
            ])
        ),
        ("Outcomes", .object(Outcome.allCases.map { .must($0.rawValue, count) })),
        ("Message", message), ("Delivery", delivery), ("Participant", participant),
        ("NewestState", newest), ("ListedMessage", listed),
        ("Day", .pattern("^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$", "In UTC.")),
    ]

    static let count = ValueSchema.integer(0...Int64(Int32.max))
    static let milliseconds = ValueSchema.integer(0...Int64.max, "Milliseconds since 1970.")

    private static let text = ValueSchema.pattern(
        #"^(?=[\s\S]*\S)[^\u0000-\u001F\u007F]+$"#, lengthMax: Texts.bytesMax,
        "Not blank, no control characters.")

    private static let token = ValueSchema.pattern(
        #"^[<> ]*(?:[0-9A-Fa-f][<> ]*[0-9A-Fa-f][<> ]*){1,\#(DeviceToken.digitsMax / 2)}$"#,
        "An even number of hexadecimal digits, 2 to \(DeviceToken.digitsMax).")

    private static let alert = ValueSchema { schema in
        schema.array("oneOf") { list in
            list.element(ValueSchema.pattern(#"\S"#))
            list.element(
                ValueSchema.object(
                    [
                        .may("title", .named("AlertWords")), .may("body", .named("AlertWords")),
                        .may("sound", .text),
                    ], isOpen: true,
                    rules: [
                        .anyOf((AlertRule.titles + AlertRule.bodies).map { .has($0) }),
                        .anyOf(
                            [ValueSchema { $0.member("not", ValueSchema.has("sound")) }]
                                + AlertRule.titles.map { .has($0) }),
                    ]))
        }
        schema.member("description", "A title or a body is needed; a sound needs a title.")
    }

    private static let alertWords = ValueSchema.oneOf([
        .string(),
        .object([.must("loc-key", .text), .may("loc-args", .list(.string()))], isOpen: true),
    ])

    private static let tagValue = ValueSchema.anyOf([
        bytes, .number(), .boolean(),
        .list(.anyOf([bytes, .number()]), counts: 0...PushwooshTags.listCountMax),
    ])
    private static let bytes = ValueSchema {
        $0.member("type", "string")
        $0.member("maxLength", Texts.bytesMax)
    }

    private static let tagChanges = ValueSchema.map(
        .anyOf([
            .named("TagValue"), .null,
            .object([.must("operation", .word(["increment"])), .must("value", .number())]),
        ]), countMax: PushwooshTags.countMax,
        "Values to set, null to take away; names have 1 to \(Texts.bytesMax) bytes.")

    private static let pushwooshRefusal = ValueSchema.object([
        .must("status_code", .integer(210...503, "210 for a wrong argument, else the HTTP status.")),
        .must("status_message", .string("The member and what is wrong with it.")), .must("response", .null),
    ])

    private static let firebaseError = ValueSchema.object([
        .must(
            "error",
            .object([
                .must("code", .integer(400...503)), .must("message", .string()),
                .must("status", .string("A google.rpc code.")),
                .may(
                    "details",
                    .list(
                        .oneOf([
                            .object([
                                .must(
                                    "@type", .word(["type.googleapis.com/google.firebase.fcm.v1.FcmError"])),
                                .must(
                                    "errorCode",
                                    .word(["UNREGISTERED", "UNAVAILABLE", "THIRD_PARTY_AUTH_ERROR"])),
                            ]),
                            .object([
                                .must("@type", .word(["type.googleapis.com/google.rpc.BadRequest"])),
                                .must(
                                    "fieldViolations",
                                    .list(
                                        .object([.must("field", .string()), .must("description", .string())]))
                                ),
                            ]),
                        ]))),
            ]))
    ])

    private static let message = ValueSchema.object([
        .must("code", .string()), .must("application", .string()), .must("event", .string()),
        .may("activity", .string()), .may("token", .string("Its beginning.")), .may("channel", .string()),
        .must("state", .word(MessageStatus.State.allCases.map(\.rawValue))),
        .must("cancelRequested", .boolean()),
        .must("acceptedAtMilliseconds", milliseconds), .must("takenAtMilliseconds", milliseconds.orNull()),
        .must("settledAtMilliseconds", milliseconds.orNull()), .must("revision", .integer().orNull()),
        .must("outcomes", .named("Outcomes")),
    ])

    private static let delivery = ValueSchema.object([
        .must("device", .string()),
        .must("state", .string("waiting, handed-over or an outcome.")),
        .must("reason", .string("APNs' reason, or the cause.").orNull()), .must("apnsId", .string()),
        .must("atMilliseconds", milliseconds),
    ])

    private static let newest = ValueSchema.object([
        .must("event", .word(ActivityEvent.allCases.map(\.rawValue))), .must("orderSeconds", .integer()),
        .must("contentState", .anyObject("As the bytes that came in.")), .must("code", .string()),
    ])

    private static let listed = ValueSchema.object([
        .must("code", .string()), .must("created_date", .string()), .must("send_date", .string()),
        .must("status", .word(["processing", "done"])), .must("platforms", .list(.string())),
        .must("source", .string()),
        .may(
            "push_info",
            .object([
                .must(
                    "details", .object([.must("event", .string()), .may("live_activity_id", .string())]))
            ])),
        .may(
            "metrics",
            .list(
                .object([.must("platform", .string()), .must("sends", count), .must("errors", count)]))),
    ])

    private static let participant = ValueSchema.object([
        .must("device", .string()), .must("state", .word(["starting", "active", "ended"])),
        .must("tokenStart", .string("The first digits of its update token.").orNull()),
        .must("lastSentAtMilliseconds", milliseconds.orNull()), .must("lastOutcome", .string().orNull()),
        .must("lastReason", .string().orNull()),
        .may("onChannel", .boolean("It listens to the activity's channel and needs no token.")),
    ])
}

extension PayloadRule {
    /// What a push of an event may hold at a door.
    static func schema(_ event: ActivityEvent, _ dialect: PayloadDialect) -> ValueSchema {
        let word = ValueSchema.word([event.rawValue])
        let named =
            dialect.eventDefault == event ? ValueSchema.Member.may("event", word) : .must("event", word)
        let members = table.compactMap { rule -> ValueSchema.Member? in
            let isNeeded = rule.presence(in: event, dialect) == .required
            guard rule.presence(in: event, dialect) != .refused else { return nil }
            return isNeeded ? .must(rule.name, rule.form.schema) : .may(rule.name, rule.form.schema)
        }
        return .object([named] + members + dialect.also.sorted().map { .may($0, .string("Not sent.")) })
    }
}

extension PayloadRule.Form {
    fileprivate var schema: ValueSchema {
        switch self {
        case .object: .anyObject("Goes out as the bytes that came in.")
        case .alert: .named("Alert")
        case .text: .text
        case .number: .number("Any that a Double holds; goes out as it is written.")
        case .one: .integer(1...1)
        case .channel:
            .pattern(
                "^(?:[0-9A-Za-z+/]{4})*(?:[0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=|[0-9A-Za-z+/]{4})$",
                lengthMax: Texts.bytesMax, "The base64 id of a broadcast channel.")
        case .seconds: .seconds
        case .pastSeconds: ValueSchema.instant("At most 5 minutes ahead.")
        case .dismissal: ValueSchema.instant("Of an end: at most 4 hours ahead; of an update: not sent.")
        }
    }
}

extension ValueSchema {
    /// Seconds since 1970 with a word about their bounds.
    static func instant(_ description: String) -> ValueSchema {
        ValueSchema {
            $0.member("$ref", "#/components/schemas/Seconds")
            $0.member("description", description)
        }
    }
}
