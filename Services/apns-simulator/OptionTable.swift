import Arguments
import Web

/// All options in the order in which the help shows them.
enum OptionTable {
    static var all: [CommandOption<SimulatorOptions>] {
        listening + credentials + phones + answering + memory + questions
    }

    private static let addressForm = "a numeric address and port"

    private static var listening: [CommandOption<SimulatorOptions>] {
        [
            CommandOption(
                name: "--listen", placeholder: "ADDRESS", help: "production host (127.0.0.1:2197)",
                expects: addressForm
            ) { options, value in
                guard let address = ListenAddress(value) else { return false }
                options.listen = address
                return true
            },
            address("--sandbox-listen", "sandbox host (none)", \.sandboxListen),
            address("--channels", "production channel host (none; Apple's port is 2196)", \.channelListen),
            address(
                "--sandbox-channels", "sandbox channel host (none; Apple's port is 2195)",
                \.sandboxChannelListen),
            CommandOption(
                name: "--control", placeholder: "ADDRESS", help: "control port or unix:PATH (127.0.0.1:2198)",
                expects: "an address and port, or unix: and a path"
            ) { options, value in
                guard let address = try? HTTPAddress(parsing: value) else { return false }
                options.control = address
                return true
            },
            .text(
                "--certificate-out", "FILE", "where clients find the certificate to trust, PEM",
                \.certificateFile),
        ]
    }

    /// An address that nobody listens at unless it is given.
    private static func address(
        _ name: String, _ help: String, _ place: WritableKeyPath<SimulatorOptions, ListenAddress?>
    ) -> CommandOption<SimulatorOptions> {
        CommandOption(name: name, placeholder: "ADDRESS", help: help, expects: addressForm) {
            options, value in
            options[keyPath: place] = ListenAddress(value)
            return options[keyPath: place] != nil
        }
    }

    private static var credentials: [CommandOption<SimulatorOptions>] {
        [
            CommandOption(
                name: "--key", placeholder: "TEAM:KEYID:FILE",
                help:
                    "public key to know, PEM; may end in :production or :sandbox, then :topics=A,B; repeatable",
                expects: "two ids of 10 characters and a file"
            ) { options, value in
                guard let key = KeyOption(value) else { return false }
                options.keys.append(key)
                return true
            },
            .flag("--any-key", "take every well-formed ES256 token", \.acceptsAnyKey),
            .flag(
                "--any-token", "answer 200 also for device tokens that no phone has",
                \.answers.acceptsAnyToken),
            CommandOption(
                name: "--topic", placeholder: "BUNDLE", help: "bundle id to allow; repeatable (any)"
            ) { options, value in
                options.rules.bundleIDs.insert(value).inserted
            },
        ]
    }

    private static var phones: [CommandOption<SimulatorOptions>] {
        [
            CommandOption(
                name: "--ingest", placeholder: "URL", help: "where apps register, http://HOST:PORT (nowhere)",
                expects: "a URL with http:// or https://"
            ) { options, value in
                guard value.hasPrefix("http://") || value.hasPrefix("https://") else { return false }
                options.ingest = value.hasSuffix("/") ? String(value.dropLast()) : value
                return true
            },
            .number(
                "--token-delay-ms", "from a start to its update token (0)",
                \.fleet.tokenDelayMilliseconds),
            .number("--start-budget", "starts in a short time, 0 for no limit (10)", \.fleet.startBurst),
            .number("--start-refill-s", "until one more start (360)", \.fleet.startRefillSeconds),
            .number(
                "--update-budget", "updates of priority 10 in a short time (no limit)",
                \.fleet.updateBurst),
            .number("--update-refill-s", "until one more such update (15)", \.fleet.updateRefillSeconds),
            .number(
                "--activities-max", "activities of one app at a time (5)", least: 1, \.fleet.activitiesMax),
            .number("--active-s", "life of an activity (28800)", least: 1, \.fleet.activeSeconds),
            .number("--past-s", "how old the timestamp of an update may be (30)", \.fleet.pastSeconds),
            .number(
                "--former-token-s", "how long a replaced token is still taken (0)",
                \.fleet.formerTokenSeconds),
            .number(
                "--ended-token-s", "how long the token of an ended activity is still taken (0)",
                \.fleet.endedTokenSeconds),
            .text(
                "--activity-id-member", "NAME", "member of attributes that is the activity's id (activityId)",
                \.fleet.activityIDMember),
            .flag(
                "--no-registration-retries", "lose what ingest does not take", \.fleet.retriesRegistrations,
                false),
            .number(
                "--registrations-max", "calls to ingest at a time (64)", least: 1, \.registrationsMax),
        ]
    }

    private static var answering: [CommandOption<SimulatorOptions>] {
        [
            .number(
                "--initial-streams", "streams before the first success (1)", least: 1, \.initialStreamLimit),
            .number("--streams", "streams after it (1000)", least: 1, \.answers.streamLimit),
            .flag(
                "--slow-after-refusal", "one stream after a refusal until the next success",
                \.answers.slowsAfterRefusal),
            .number("--refusals-max", "refusals until GOAWAY (never)", \.answers.refusalsMax),
            .number(
                "--requests-per-token", "in a second until TooManyRequests, 0 for no limit (400)",
                \.fleet.requestsPerSecondMax),
            .number(
                "--token-changes", "provider-token changes of a connection in 20 minutes (1)",
                \.rules.tokenChangesAllowed),
            .flag(
                "--lenient-push-type", "take a push type that does not fit the topic",
                \.rules.toleratesPushTypeMismatch),
            .flag("--no-broadcasts", "answer FeatureNotEnabled about channels", \.rules.refusesBroadcasts),
            .flag("--strict-priority", "refuse priority 1 for Live Activities", \.rules.refusesLowPriority),
        ]
    }

    private static var memory: [CommandOption<SimulatorOptions>] {
        [
            .number("--history", "pushes shown of each phone (50)", \.fleet.historyPerPhone),
            .number("--history-bytes", "kept for all of them (67108864)", \.fleet.historyBytesMax),
            .number(
                "--arrivals", "last pushes that can be listed (100000)", least: 1, \.answers.arrivalsMax),
            .text(
                "--marker-member", "NAME", "member of content-state whose integer is listed (n)",
                \.fleet.markerMember
            ),
            CommandOption(
                name: "--token-bytes", placeholder: "N", help: "length of Live Activity tokens (80)",
                expects: "a multiple of 8 from 16 to 512"
            ) { options, value in
                guard let length = Int(value), length % 8 == 0, (16...512).contains(length) else {
                    return false
                }
                options.fleet.tokenLengths.liveActivity = length
                return true
            },
            CommandOption(
                name: "--seed", placeholder: "N", help: "same seed, same tokens (random)",
                expects: "a number of 0 or more"
            ) { options, value in
                guard let seed = UInt64(value) else { return false }
                options.fleet.seed = seed
                options.hasSeed = true
                return true
            },
        ]
    }

    private static var questions: [CommandOption<SimulatorOptions>] {
        [
            .flag("--help", "show this and end", \.showsHelp),
            .flag("--version", "show the version and end", \.showsVersion),
        ]
    }
}
