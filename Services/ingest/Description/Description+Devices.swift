import JSON

extension CallDescription {
    private static let base: [ValueSchema.Member] = [.must("application", .text), .must("hwid", .text)]
    private static let words = ValueSchema.string("At most 1,024 bytes; blank counts as missing.").orNull()
    private static let wholeNumber = ValueSchema.anyOf([.integer(), .pattern("^(?:[+-]?[0-9]+)?$"), .null])
    private static let registeredAt = ValueSchema.Member.may(
        "registered_at", ValueSchema.instant("When the phone got the token.").orNull())

    /// A call of a phone; the SDK sends more than is known here.
    private static func phone(
        _ summary: String, details: String? = nil, _ members: [ValueSchema.Member], example: String
    ) -> CallDescription {
        CallDescription(
            summary: summary, details: details, credential: .device,
            request: Request(
                schema: .request(base + members, isOpen: true),
                examples: [
                    ("phone", #"{"request":{"application":"AAAAA-00001","hwid":"first_device"\#(example)}}"#)
                ]),
            answers: Answer.pushwoosh(.null))
    }

    static let registerDevice = phone(
        "Tells what a device is; a member that is missing leaves what was known.",
        details: "With device_type other than 1 (iOS) push_token is not looked at.",
        [
            .may("device_type", wholeNumber),
            .may("push_token", .anyOf([.token, .word([""]), .null])),
            .may("gateway", ValueSchema.word(["production", "sandbox"]).orNull()), .may("os_version", words),
            .may("language", words), .may("app_version", words), .may("device_model", words),
            .may("timezone", wholeNumber), .may("userId", words),
            .may("frequent_pushes", .anyOf([.boolean(), .integer(0...1), .null])),
            .may("tags", ValueSchema.named("TagChanges").orNull()), registeredAt,
        ],
        example:
            #","device_type":1,"push_token":"a1b2c3d4","gateway":"production","os_version":"18.1","language":"fr","#
            + #""app_version":"7.0","device_model":"iPhone15,2","timezone":3600,"userId":"user-1","#
            + #""frequent_pushes":true,"tags":{"level":"vip"},"registered_at":1700000000"#)

    static let unregisterDevice = phone(
        "Takes a device's tokens away; the device is known on.", [], example: "")

    static let registerUser = phone(
        "Ties a device to a user.", [.must("userId", .text)], example: #","userId":"user-1""#)

    static let setTags = phone(
        "Sets, raises or removes tags.",
        [.must("tags", .named("TagChanges"))],
        example:
            #","tags":{"level":"vip","orders":{"operation":"increment","value":1},"kinds":["a","b"],"old":null}"#
    )

    static let setActivityPushToStartToken = phone(
        "Tells a device's push-to-start token; an empty one takes it back.",
        details: "Without attributes_type it serves every type that has none of its own.",
        [
            .must("activity_push_to_start_token", .anyOf([.token, .word([""])])),
            .may("attributes_type", ValueSchema.text.orNull()), registeredAt,
        ],
        example:
            #","activity_push_to_start_token":"5a5a5a5a","attributes_type":"FoodDeliveryAttributes","registered_at":1700000000"#
    )

    static let setActivityToken = phone(
        "Tells the update token of an activity on a device; an empty one ends the activity there.",
        details: "activity_id is the live_activity_id; empty if the app has none.",
        [
            .must("activity_token", .anyOf([.token, .word([""])])),
            .must("activity_id", .anyOf([.text, .word([""])])), registeredAt,
        ],
        example:
            #","activity_token":"a1a1a1a1","activity_id":"FIRST_LIVE_ACTIVITY","registered_at":1700000000"#)

    static let getTags = CallDescription(
        summary: "Shows a device's tags, to the device, or with auth to a server.", credential: .device,
        request: Request(
            schema: .request(base + [.may("auth", ValueSchema.string().orNull())], isOpen: true),
            examples: [
                ("phone", #"{"request":{"application":"AAAAA-00001","hwid":"first_device"}}"#),
                (
                    "server",
                    #"{"request":{"application":"AAAAA-00001","hwid":"first_device","auth":"API-TOKEN"}}"#
                ),
            ]),
        answers: Answer.pushwoosh(.object([.must("result", .map(.named("TagValue")))])))
}
