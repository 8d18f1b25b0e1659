import JSON
import Service

/// The doors as an OpenAPI 3.1 document, served at `/openapi.json`.
enum Description {
    /// The document; it is written once.
    static let document = JSONWriter.object { document in
        document.member("openapi", "3.1.0")
        document.object("info") { info in
            info.member("title", "Liveline")
            info.member("version", Service.Release.version)
            info.member("summary", "A push back end for iOS Live Activities.")
            info.member("description", introduction)
        }
        document.array("servers") { list in list.object { $0.member("url", "/") } }
        document.array("tags") { list in
            for (name, text) in tags {
                list.object {
                    $0.member("name", name)
                    $0.member("description", text)
                }
            }
        }
        document.object("paths", write)
        document.object("components") { components in
            components.object("securitySchemes", writeCredentials)
            components.object("schemas") { list in
                for (name, schema) in schemas { list.member(name, schema) }
            }
        }
    }

    private static let introduction = """
        Limits: a body has at most 1 MiB (413) and 64 levels; no member stands twice; a finished APNs body has at most \
        \(PayloadSize.bytesMax) bytes. maxLength counts bytes of UTF-8. A POST with an Idempotency-Key that was accepted \
        is answered the same for 24 h, and 422 with another body. What is too much for now is answered 503 with \
        Retry-After.
        """

    private static let tags = [
        (Door.pushwoosh.rawValue, "Pushwoosh's calls: HTTP 200 with status_code 210 for a wrong argument."),
        (Door.firebase.rawValue, "Firebase's messages:send, with Google's errors."),
        (Door.signIn.rawValue, "Sign-in of service accounts (RFC 7523)."),
        (Door.own.rawValue, "What became of messages and activities."),
    ]

    private static func write(to paths: inout JSONWriter) {
        var seen: [String] = []
        for operation in Operation.allCases where !seen.contains(operation.route.path) {
            seen.append(operation.route.path)
            paths.object(operation.route.path) { path in
                for other in Operation.allCases where other.route.path == operation.route.path {
                    other.description.write(other, to: &path)
                }
            }
        }
    }

    private static func writeCredentials(to list: inout JSONWriter) {
        list.object("bearer") {
            $0.member("type", "http")
            $0.member("scheme", "bearer")
            $0.member("description", "One of the application's apiTokens, or an access token of /token.")
        }
        for (name, text) in [
            ("deviceToken", "Token and one of the application's deviceTokens."),
            ("apiToken", "One of the application's apiTokens, behind any scheme or none."),
        ] {
            list.object(name) {
                $0.member("type", "apiKey")
                $0.member("in", "header")
                $0.member("name", "Authorization")
                $0.member("description", text)
            }
        }
    }
}

extension Operation {
    /// What is said of the call.
    var description: CallDescription {
        switch self {
        case .startLiveActivity: .startLiveActivity
        case .updateLiveActivity: .updateLiveActivity
        case .registerDevice: .registerDevice
        case .unregisterDevice: .unregisterDevice
        case .registerUser: .registerUser
        case .setTags: .setTags
        case .getTags: .getTags
        case .setActivityPushToStartToken: .setActivityPushToStartToken
        case .setActivityToken: .setActivityToken
        case .createFilter: .createFilter
        case .compileFilter: .compileFilter
        case .listFilters: .listFilters
        case .deleteFilter: .deleteFilter
        case .listMessages: .listMessages
        case .sendMessage: .sendMessage
        case .signIn: .signIn
        case .showMessage: .showMessage
        case .cancelMessage: .cancelMessage
        case .listDeliveries: .listDeliveries
        case .showActivity: .showActivity
        case .createChannel: .createChannel
        case .listChannels: .listChannels
        case .showChannel: .showChannel
        case .deleteChannel: .deleteChannel
        case .pause: .pause
        case .importDevices: .importDevices
        case .resume: .resume
        case .health: .health
        case .readiness: .readiness
        case .describe: .describe
        }
    }
}
