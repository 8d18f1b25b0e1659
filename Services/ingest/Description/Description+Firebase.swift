import JSON

extension CallDescription.Answer {
    fileprivate static func firebase(_ status: Int, _ meaning: String) -> CallDescription.Answer {
        .init(status: status, meaning: meaning, schema: .named("FirebaseError"))
    }
}

extension CallDescription {
    static let sendMessage = CallDescription(
        summary: "Starts, updates or ends a Live Activity by its token.",
        details:
            "Names may be written in snake_case or lowerCamelCase, not both at once. Members for other platforms "
            + "are let pass. A start without aps.alert needs a notification with a title or body.",
        credential: .bearer,
        request: Request(
            schema: .object(
                [
                    .may("validate_only", ValueSchema.boolean().orNull()),
                    .may("validateOnly", ValueSchema.boolean().orNull()), .must("message", message),
                ], rules: [.hasNot("validate_only", "validateOnly")]),
            examples: [
                ("start", send(start)), ("update", send(change("update"))),
                ("end", send(change("end", #","dismissal-date":0"#))), ("camel", camel),
            ]),
        answers: [
            Answer(
                status: 200, meaning: "Accepted, or with validate_only: would be.",
                schema: .object([.must("name", .pattern("^projects/[^/]+/messages/[^/]+$"))])),
            .firebase(400, "INVALID_ARGUMENT, with the members."),
            .firebase(401, "UNAUTHENTICATED; THIRD_PARTY_AUTH_ERROR if the app has no key for APNs."),
            .firebase(403, "The token is not for this project."),
            .firebase(404, "UNREGISTERED for a token that is known as dead; or no such project."),
            .firebase(422, "The Idempotency-Key came before with another body."),
            .firebase(503, "Nothing was accepted; come again after Retry-After."),
        ])

    private static let registration = ValueSchema {
        $0.member("type", "string")
        $0.member("pattern", #"\S"#)
        $0.member("maxLength", 4_096)
    }

    private static let message = ValueSchema.object(
        [
            .may("name", .anything), .may("data", .anything), .may("android", .anything),
            .may("webpush", .anything), .may("token", registration), .may("fid", registration),
            .may(
                "notification",
                ValueSchema.object(
                    [
                        .may("title", ValueSchema.string().orNull()),
                        .may("body", ValueSchema.string().orNull()),
                    ],
                    isOpen: true
                ).orNull()),
            .may("fcm_options", options()), .may("fcmOptions", options()), .must("apns", apns),
        ], rules: [.oneOf([.has("token"), .has("fid")]), .hasNot("fcm_options", "fcmOptions")])

    private static func options(_ more: [ValueSchema.Member] = []) -> ValueSchema {
        ValueSchema.object(
            [.may("analytics_label", .string()), .may("analyticsLabel", .string())] + more,
            rules: [.hasNot("analytics_label", "analyticsLabel")]
        ).orNull()
    }

    private static let image = ValueSchema.Member.may("image", ValueSchema.string().orNull())

    private static let apns = ValueSchema.object(
        [
            .may("live_activity_token", .token), .may("liveActivityToken", .token), .may("headers", headers),
            .must(
                "payload",
                .object([
                    .must(
                        "aps",
                        .oneOf([.named("FirebaseStart"), .named("FirebaseUpdate"), .named("FirebaseEnd")]))
                ])), .may("fcm_options", options([image])), .may("fcmOptions", options([image])),
        ],
        rules: [
            .oneOf([.has("live_activity_token"), .has("liveActivityToken")]),
            .hasNot("fcm_options", "fcmOptions"),
        ])

    private static let headers = ValueSchema { schema in
        schema.member("type", "object")
        schema.member(
            "description",
            "In any letter case, each once. apns-priority is 10 by default, apns-expiration 10 minutes for a start, "
                + "1 hour for an update, 4 hours for an end.")
        schema.object("properties") { list in
            list.member("apns-priority", ValueSchema.word(["5", "10"]))
            list.member(
                "apns-expiration", ValueSchema.pattern("^[0-9]{1,11}$", "Not in the past; 0 is one attempt."))
            list.member(
                "apns-id",
                ValueSchema.pattern("^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$"))
            list.member(
                "apns-collapse-id",
                ValueSchema.pattern(
                    "^[!-~](?:[ -~]*[!-~])?$",
                    lengthMax: FirebaseHeaders.collapseIDBytesMax))
            list.member("apns-push-type", ValueSchema.word(["liveactivity"]))
            list.member(
                "apns-topic", ValueSchema.string("The app's own: <bundle id>.push-type.liveactivity."))
        }
        schema.member(
            "propertyNames",
            ValueSchema.pattern(
                "^[Aa][Pp][Nn][Ss]-(?:[Pp][Rr][Ii][Oo][Rr][Ii][Tt][Yy]|[Ee][Xx][Pp][Ii][Rr][Aa][Tt][Ii][Oo][Nn]|[Ii][Dd]|"
                    + "[Cc][Oo][Ll][Ll][Aa][Pp][Ss][Ee]-[Ii][Dd]|[Pp][Uu][Ss][Hh]-[Tt][Yy][Pp][Ee]|[Tt][Oo][Pp][Ii][Cc])$"
            ))
    }

    private static func send(_ aps: String) -> String {
        #"{"message":{"token":"REGISTRATION-TOKEN","apns":{"live_activity_token":"a1b2c3d4","headers":{"apns-priority":"10"},"#
            + #""payload":{"aps":{\#(aps)}}}}}"#
    }

    private static let start =
        #""timestamp":1700000000,"event":"start","content-state":{"demo":1},"attributes-type":"DemoAttributes","#
        + #""attributes":{"demoAttribute":1},"alert":{"title":"test title","body":"test body"}"#

    private static func change(_ event: String, _ more: String = "") -> String {
        #""timestamp":1700000000,"event":"\#(event)","content-state":{"test1":100},"alert":{"title":"t","body":"b"}\#(more)"#
    }

    private static let camel =
        #"{"validateOnly":true,"message":{"fid":"INSTALLATION","notification":{"title":"t"},"data":{"k":"v"},"#
        + #""fcmOptions":{"analyticsLabel":"lunch"},"apns":{"liveActivityToken":"A1B2C3D4","#
        + #""fcmOptions":{"analyticsLabel":"lunch","image":"i"},"headers":{"apns-priority":"5","apns-expiration":"0","#
        + #""apns-id":"8b6fe1a0-0000-4000-8000-00000000abcd","apns-collapse-id":"k","apns-push-type":"liveactivity"},"#
        + #""payload":{"aps":{"event":"start","content-state":{},"attributes-type":"A","attributes":{}}}}}}"#

    static let signIn = CallDescription(
        summary: "Gives a service account a bearer token for an hour.",
        details: "The assertion is signed with RS256 by a key that the configuration names.",
        credential: .nobody,
        request: Request(
            type: "application/x-www-form-urlencoded",
            schema: .object(
                [
                    .must("grant_type", .word(["urn:ietf:params:oauth:grant-type:jwt-bearer"])),
                    .must("assertion", .string("A JSON Web Token.")),
                ], isOpen: true),
            examples: []),
        answers: [
            Answer(
                status: 200, meaning: "A token.",
                schema: .object([
                    .must("access_token", .string()), .must("expires_in", .integer(1...3_600)),
                    .must("token_type", .word(["Bearer"])),
                ])),
            Answer(
                status: 400, meaning: "Refused (RFC 6749, section 5.2).",
                schema: .object([.must("error", .string()), .must("error_description", .string())])),
        ])
}
