/// A request that has arrived completely.
public struct HTTPRequest: Sendable, Equatable {
    /// The method as it was written: `GET`, `POST`, or any other token.
    public let method: String
    /// The path, percent-decoded; a `/` inside a segment cannot be told from a separator here.
    public let path: String
    /// The parts of the path between its slashes, each percent-decoded; empty ones are left out.
    public let segments: [String]
    /// The items of the query, percent-decoded, in their order.
    public let queryItems: [HTTPField]
    /// The header fields.
    public let headers: HTTPHeaders
    /// The body; empty if there is none.
    public let body: [UInt8]

    /// Makes a request, for handlers that are called without a server.
    ///
    /// - Returns: `nil` if the target is not well formed.
    public init?(method: String, target: String, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        guard let target = HTTPTarget(target) else { return nil }
        self.init(method: method, target: target, headers: headers, body: body)
    }

    init(method: String, target: HTTPTarget, headers: HTTPHeaders, body: [UInt8]) {
        self.method = method
        path = target.path
        segments = target.segments
        queryItems = target.queryItems
        self.headers = headers
        self.body = body
    }

    /// The value of the first query item of that name.
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }
}
