import Testing

/// The situations that a push back end must handle: each is shown by at least one test, which carries its slug.
@Suite struct `The cases` {
    /// A part of the list.
    struct Section: CustomTestStringConvertible, Sendable {
        var name: String
        var slugs: [String]

        var testDescription: String { name }
    }

    static let sections = [
        Section(
            name: "ingest",
            slugs: [
                "ing-both-spellings", "ing-token-wrong-type", "ing-expiration-zero",
                "ing-priority-five-kept", "ing-event-misspelt", "ing-start-members", "ing-big-integers",
                "ing-emoji-sequences", "ing-duplicate-names", "ing-expect-continue", "ing-secrets-in-logs",
                "ing-start-retried", "ing-array-one-bad", "ing-error-kind-clear",
                "ing-registration-token-unknown",
            ]),
        Section(
            name: "segmenter",
            slugs: [
                "seg-same-device-twice", "seg-per-phone-token-choice", "seg-paging-under-change",
                "seg-killed-in-the-middle", "seg-environment-carried",
            ]),
        Section(
            name: "token-registry",
            slugs: [
                "reg-reregistered-later", "reg-token-spelling", "reg-token-length",
                "reg-ended-activity-reregisters", "reg-update-before-token", "reg-rotation-while-queued",
                "reg-400-is-not-410", "reg-registration-repeated",
            ]),
        Section(
            name: "rate-limiter",
            slugs: [
                "lim-burst", "lim-silent-tail", "lim-late-older-update", "lim-neighbours-unaffected",
                "lim-failed-then-newer", "lim-no-leak", "lim-update-after-end",
            ]),
        Section(
            name: "apns-gateway, requests and answers",
            slugs: [
                "gw-caller-headers", "gw-permanent-refusals", "gw-no-answer", "gw-collapse-id-length",
                "gw-expiration-default", "gw-apns-id",
            ]),
        Section(
            name: "apns-gateway, connections",
            slugs: [
                "h2-stream-limit", "h2-silent-dead-connection", "h2-cold-start-burst",
                "h2-first-request-times-out", "h2-bad-connection-answers-500",
            ]),
        Section(
            name: "apns-gateway, keys and provider tokens",
            slugs: [
                "key-wrong-kind", "jwt-reuse", "jwt-expired-answer", "jwt-config-swapped",
            ]),
        Section(
            name: "between services",
            slugs: [
                "ipc-path-too-long", "ipc-full-queue", "ipc-shutdown-hang", "ipc-late-reply", "ipc-signals",
                "ipc-first-event-missed", "ipc-junk-message",
            ]),
        Section(
            name: "stores",
            slugs: [
                "db-cold-start", "db-disk-full", "db-killed-between-send-and-mark", "db-history-cleaned",
            ]),
    ]

    private static let carried = Result {
        Set(
            try SourceTree(under: "Tests").code.compactMap { line -> String? in
                guard line.text.utf8Contains("`") else { return nil }
                return line.text.firstMatch(of: #/(?:func |^ *)`([a-z0-9]+(?:-[a-z0-9]+)+): /#).map {
                    String($0.1)
                }
            })
    }

    @Test(arguments: sections)
    func `are each shown by a test`(_ section: Section) throws {
        let carried = try Self.carried.get()
        #expect(section.slugs.filter { !carried.contains($0) } == [])
    }

    @Test func `have no slugs but these`() throws {
        let known = Set(Self.sections.flatMap(\.slugs))
        let prefixes = Set(known.compactMap { $0.split(separator: "-").first })
        let alike = try Self.carried.get().filter { prefixes.contains($0.split(separator: "-")[0]) }
        #expect(alike.filter { !known.contains($0) }.sorted() == [])
    }
}
