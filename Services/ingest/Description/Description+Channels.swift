import Contracts
import JSON

extension ValueSchema {
    /// A broadcast channel's id.
    static func channel(_ description: String? = nil) -> ValueSchema {
        .pattern("^[A-Za-z0-9+/]+={0,2}$", lengthMax: Channel.idBytesMax, description)
    }
}

extension CallDescription {
    private static let environment = ValueSchema.word(APNsEnvironment.allCases.map(\.rawValue))
    private static let environmentItem = [Query(name: "environment", schema: environment)]
    private static let policy = ValueSchema.integer(
        0...1, "1 keeps the newest message for phones that are away.")
    private static let activity = ValueSchema.string("The running activity that it is bound to.").orNull()

    private static let channel = ValueSchema.object([
        .must("channel", .channel()), .must("application", .string()), .must("environment", environment),
        .must("storagePolicy", policy), .must("activity", activity),
    ])

    static let createChannel = CallDescription(
        summary: "Makes a broadcast channel at APNs.",
        details: "Made twice it is two; after a 504 the list shows whether it was made.", credential: .bearer,
        request: Request(
            schema: .object([
                .may("environment", environment.orNull()), .may("storagePolicy", policy.orNull()),
            ]),
            examples: [
                ("stored", #"{"storagePolicy":1}"#),
                ("sandbox", #"{"environment":"sandbox","storagePolicy":0}"#),
            ],
            isRequired: false),
        answers: [Answer(status: 201, meaning: "Made.", schema: channel)]
            + Answer.own(400, 401, 404, 409, 422, 502, 503, 504))

    static let listChannels = CallDescription(
        summary: "Lists an application's channels, as APNs knows them.", credential: .bearer,
        query: environmentItem,
        answers: [
            Answer(
                status: 200, meaning: "All channels.",
                schema: .object([
                    .must("application", .string()), .must("environment", environment),
                    .must(
                        "channels",
                        .list(
                            .object([
                                .must("channel", .channel()), .must("storagePolicy", policy.orNull()),
                                .must("activity", activity),
                            ]))),
                ]))
        ] + Answer.own(400, 401, 404, 409, 502, 503, 504))

    static let showChannel = CallDescription(
        summary: "Shows a channel.", credential: .bearer, query: environmentItem,
        answers: [Answer(status: 200, meaning: "The channel.", schema: channel)]
            + Answer.own(400, 401, 404, 409, 502, 503, 504))

    static let deleteChannel = CallDescription(
        summary: "Removes a channel for good.", details: "One of a running activity is not removed.",
        credential: .bearer, query: environmentItem,
        answers: [
            Answer(
                status: 200, meaning: "Removed.",
                schema: .object([.must("channel", .channel()), .must("deleted", .boolean())]))
        ] + Answer.own(400, 401, 404, 409, 502, 503, 504))
}
