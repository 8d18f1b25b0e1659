import JSON

extension CallDescription.Answer {
    /// What Liveline's own door answers to calls that it refuses.
    static func own(_ statuses: Int...) -> [CallDescription.Answer] {
        statuses.map { .init(status: $0, meaning: meanings[$0] ?? "Refused.", schema: .named("OwnError")) }
    }

    private static let meanings = [
        400: "Wrong, with the member.", 401: "No valid token.",
        404: "No such thing, or it is another application's.",
        409: "It does not go with what was accepted before.",
        502: "APNs refused.", 504: "APNs has not answered in time.",
        422: "The Idempotency-Key came before with another body.",
        503: "Not now; come again after Retry-After.",
    ]
}

extension CallDescription {
    private static let pages: [Query] = [
        Query(name: "limit", schema: .integer(1...Int64(Page.limitMax), "\(Page.limitDefault) by default.")),
        Query(name: "after", schema: .integer(0...Int64.max, "The next of the page before.")),
    ]
    private static let next = ValueSchema.Member.must(
        "next", ValueSchema.integer(nil, "Where the next page begins; null if there is none.").orNull())

    static let showMessage = CallDescription(
        summary: "Tells how a message stands.", credential: .bearer,
        answers: [Answer(status: 200, meaning: "The message.", schema: .named("Message"))]
            + Answer.own(401, 404))

    static let cancelMessage = CallDescription(
        summary: "Takes a start or update back, as far as it has not gone out.", credential: .bearer,
        answers: [Answer(status: 200, meaning: "The message.", schema: .named("Message"))]
            + Answer.own(401, 404, 409))

    static let listDeliveries = CallDescription(
        summary: "Tells what became of a message on each device.", credential: .bearer, query: pages,
        answers: [
            Answer(
                status: 200, meaning: "A page of deliveries.",
                schema: .object([
                    .must("code", .string()), .must("deliveries", .list(.named("Delivery"))), next,
                ]))
        ] + Answer.own(400, 401, 404, 503))

    static let showActivity = CallDescription(
        summary: "Shows the newest life of an activity, its newest state, and each device in it.",
        details: "An activity without an id is named by its update token.", credential: .bearer, query: pages,
        answers: [
            Answer(
                status: 200, meaning: "The activity.",
                schema: .object([
                    .must("application", .string()), .may("activity", .string()),
                    .may("token", .string("Its beginning.")),
                    .may("channel", .string("Its name is a channel.")),
                    .may("boundTo", .string("The channel that it is bound to.")),
                    .must("state", .word(["running", "ended", "awaiting", "empty", "over"])),
                    .must("beganBy", .word(["start", "token"])),
                    .must("beganAtMilliseconds", Description.milliseconds),
                    .must("newest", ValueSchema.named("NewestState").orNull()),
                    .must("participants", .list(.named("Participant"))), next,
                ]))
        ] + Answer.own(400, 401, 404, 503))

    private static func hold(_ summary: String, _ word: String) -> CallDescription {
        CallDescription(
            summary: summary, credential: .bearer,
            request: Request(
                schema: .object([.may("environment", ValueSchema.word(["production", "sandbox"]).orNull())]),
                examples: [("one", #"{"environment":"sandbox"}"#), ("both", "{}")], isRequired: false),
            answers: [
                Answer(
                    status: 200, meaning: "Accepted.",
                    schema: .object([
                        .must("code", .string()), .must("application", .string()),
                        .must("event", .word([word])),
                        .must("environment", ValueSchema.word(["production", "sandbox"]).orNull()),
                    ]))
            ] + Answer.own(400, 401, 404, 422, 503))
    }

    static let pause = hold("Holds all pushes of an application back.", "pause")
    static let resume = hold("Lets the pushes of an application go on.", "resume")

    private static func well(_ summary: String) -> CallDescription {
        let answer = ValueSchema.object([.must("status", .string("`ok`, or what is wrong."))])
        return CallDescription(
            summary: summary, credential: .nobody,
            answers: [
                Answer(status: 200, meaning: "Yes.", schema: answer),
                Answer(status: 503, meaning: "Not yet.", schema: answer),
            ])
    }

    static let health = well("Whether the process lives.")
    static let readiness = well("Whether it has read its journal, and can write it.")

    static let describe = CallDescription(
        summary: "This description.", credential: .nobody,
        answers: [
            Answer(
                status: 200, meaning: "An OpenAPI 3.1 document.",
                schema: .object(
                    [
                        .must("openapi", .word(["3.1.0"])), .must("info", .anyObject()),
                        .must("paths", .anyObject()), .must("components", .anyObject()),
                    ], isOpen: true))
        ])
}
