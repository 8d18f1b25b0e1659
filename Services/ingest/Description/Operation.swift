import JSON

/// Every call that is served: the router and the description of the doors read by this list and by nothing else.
///
/// A new call is a case here, with its route; the compiler then asks for what serves it and for what describes it.
enum Operation: String, CaseIterable, Sendable {
    case startLiveActivity = "startLiveActivity"
    case updateLiveActivity = "updateLiveActivity"
    case registerDevice = "registerDevice"
    case unregisterDevice = "unregisterDevice"
    case registerUser = "registerUser"
    case setTags = "setTags"
    case getTags = "getTags"
    case setActivityPushToStartToken = "setActivityPushToStartToken"
    case setActivityToken = "setActivityToken"
    case createFilter = "createFilter"
    case compileFilter = "compileFilter"
    case listFilters = "listFilters"
    case deleteFilter = "deleteFilter"
    case listMessages = "listMessages"
    case sendMessage = "sendMessage"
    case signIn = "signIn"
    case showMessage = "showMessage"
    case cancelMessage = "cancelMessage"
    case listDeliveries = "listDeliveries"
    case showActivity = "showActivity"
    case createChannel = "createChannel"
    case listChannels = "listChannels"
    case showChannel = "showChannel"
    case deleteChannel = "deleteChannel"
    case pause = "pause"
    case resume = "resume"
    case importDevices = "importDevices"
    case health = "health"
    case readiness = "readiness"
    case describe = "describe"

    /// Where it is served.
    var route: HTTPRoute {
        switch self {
        case .startLiveActivity, .updateLiveActivity, .registerDevice, .unregisterDevice, .registerUser,
            .setTags, .getTags, .setActivityPushToStartToken, .setActivityToken, .createFilter,
            .compileFilter, .listFilters, .deleteFilter:
            HTTPRoute("POST", "/json/1.3/\(rawValue)")
        case .listMessages: HTTPRoute("POST", "/api/v2/messages:list")
        case .sendMessage: HTTPRoute("POST", "/v1/projects/{project}/messages:send")
        case .signIn: HTTPRoute("POST", "/token")
        case .showMessage: HTTPRoute("GET", "/v1/messages/{code}")
        case .cancelMessage: HTTPRoute("DELETE", "/v1/messages/{code}")
        case .listDeliveries: HTTPRoute("GET", "/v1/messages/{code}/deliveries")
        case .showActivity: HTTPRoute("GET", "/v1/applications/{app}/activities/{id}")
        case .createChannel: HTTPRoute("POST", "/v1/applications/{app}/channels")
        case .listChannels: HTTPRoute("GET", "/v1/applications/{app}/channels")
        case .showChannel: HTTPRoute("GET", "/v1/applications/{app}/channels/{channel}")
        case .deleteChannel: HTTPRoute("DELETE", "/v1/applications/{app}/channels/{channel}")
        case .pause: HTTPRoute("POST", "/v1/applications/{app}/pause")
        case .resume: HTTPRoute("POST", "/v1/applications/{app}/resume")
        case .importDevices: HTTPRoute("POST", "/v1/applications/{app}/devices:import")
        case .health: HTTPRoute("GET", "/healthz")
        case .readiness: HTTPRoute("GET", "/readyz")
        case .describe: HTTPRoute("GET", "/openapi.json")
        }
    }

    private static let table = allCases.map { (operation: $0, route: $0.route) }

    /// What a call asks for.
    ///
    /// - Throws: `Refusal` for a path that is not served, or not with this method.
    static func find(_ call: HTTPCall) throws(Refusal) -> Operation {
        // HEAD is GET without the body, which the server leaves out.
        let method = call.method == "HEAD" ? "GET" : call.method
        var allowed: [String] = []
        for (operation, route) in table where route.leads(to: call.path) {
            guard route.method != method else { return operation }
            allowed.append(route.method)
        }
        guard !allowed.isEmpty else {
            throw Refusal(.notFound, "", "there is nothing under this path", label: "path")
        }
        throw Refusal(
            .method(allowed: allowed.joined(separator: ", ")), "",
            "only \(allowed.joined(separator: " and ")) \(allowed.count == 1 ? "is" : "are") served here",
            label: "method")
    }
}

/// A method and a path; parts in braces stand for any text.
struct HTTPRoute: Equatable, Sendable {
    let method: String
    let path: String
    private let parts: [(text: String, isAny: Bool)]

    init(_ method: String, _ path: String) {
        self.method = method
        self.path = path
        parts = path.split(separator: "/").map { (String($0), $0.first == "{") }
    }

    static func == (left: HTTPRoute, right: HTTPRoute) -> Bool {
        left.method == right.method && left.path == right.path
    }

    /// The names of the parts in braces.
    var parameters: [String] { parts.filter(\.isAny).map { String($0.text.dropFirst().dropLast()) } }

    /// Whether it is the route of a path.
    func leads(to path: [String]) -> Bool {
        guard parts.count == path.count else { return false }
        return zip(parts, path).allSatisfy { $0.isAny || $0.text == $1 }
    }
}
