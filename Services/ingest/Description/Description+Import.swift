import JSON

extension CallDescription {
    private static let tally: [ValueSchema.Member] = [
        .must("accepted", .integer(0...Int64.max, "Lines that are kept.")),
        .must("refused", .integer(0...Int64.max, "Lines that are not.")),
        .must("lines", .integer(0...Int64.max, "Lines that were read.")),
        .must(
            "errors",
            .list(
                .object([
                    .must("line", .integer(1...Int64.max, "From 1.")), .must("member", .string()),
                    .must("message", .string()),
                ]))),
    ]

    static let importDevices = CallDescription(
        summary: "Imports devices, one JSON object a line.",
        details: """
            The body may be of any length and is read as it arrives. A bad line is refused alone. Of an import that \
            breaks off, what was read stays; it may be sent again as a whole.
            """,
        credential: .bearer,
        request: Request(
            type: "application/x-ndjson",
            schema: .string(
                "Lines of at most 64 KiB, each an object with hwid and what phones tell of themselves."),
            examples: [
                (
                    "devices",
                    """
                    {"hwid":"phone-1","os_version":"18.0","user_id":"u1","tags":{"level":"vip"}}
                    {"hwid":"phone-2","push_to_start_tokens":[{"token":"a1a1","attributes_type":"Order"}]}

                    """
                )
            ]),
        answers: [
            Answer(status: 200, meaning: "All lines were read.", schema: .object(tally)),
            Answer(
                status: 503, meaning: "No more room; go on behind lines after Retry-After.",
                schema: .object([.must("error", .string())] + tally)),
        ] + Answer.own(400, 401, 404))
}
