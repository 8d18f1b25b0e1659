/// One of the five executables.
public enum ServiceName: String, Codable, Sendable, CaseIterable, Comparable {
    case ingest = "ingest"
    case segmenter = "segmenter"
    case tokenRegistry = "token-registry"
    case rateLimiter = "rate-limiter"
    case apnsGateway = "apns-gateway"

    /// Orders services by their name.
    public static func < (left: ServiceName, right: ServiceName) -> Bool { left.rawValue < right.rawValue }

    /// The services this one exchanges messages with.
    public var neighbours: [ServiceName] {
        switch self {
        case .ingest: [.segmenter, .tokenRegistry, .apnsGateway]
        case .segmenter: [.ingest, .tokenRegistry]
        case .tokenRegistry: [.ingest, .segmenter, .rateLimiter, .apnsGateway]
        case .rateLimiter: [.tokenRegistry, .apnsGateway]
        case .apnsGateway: [.tokenRegistry, .rateLimiter, .ingest]
        }
    }

    /// Whether it can do none of its work without a neighbour: the door asks gateways about channels alone.
    public func needs(_ neighbour: ServiceName) -> Bool {
        Set([self, neighbour]) != [.ingest, .apnsGateway]
    }
}

/// One running process of a service, such as `rate-limiter.2`.
public struct InstanceName: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    /// The executable.
    public var service: ServiceName
    /// Which of its processes; 1 or more.
    public var number: Int

    /// Names an instance of a service.
    public init(_ service: ServiceName, _ number: Int = 1) {
        self.service = service
        self.number = number
    }

    /// Reads `service.number`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let dot = text.lastIndex(of: "."),
            let service = ServiceName(rawValue: String(text[..<dot])),
            let number = Int(text[text.index(after: dot)...]), (1...InstanceName.numberMax).contains(number)
        else { return nil }
        self.init(service, number)
    }

    /// The highest number an instance may have.
    public static let numberMax = 999

    /// The name as it stands in socket files and envelopes.
    public var description: String { "\(service.rawValue).\(number)" }

    /// Orders by service, then by number.
    public static func < (left: InstanceName, right: InstanceName) -> Bool {
        (left.service, left.number) < (right.service, right.number)
    }

    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let name = InstanceName(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an instance name")
        }
        self = name
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Who wrote a message: an instance, and which of its lives.
public struct Sender: Hashable, Sendable, Codable {
    /// The process.
    public var instance: InstanceName
    /// A random number of at most 53 bits that names one life of the process; compared for equality only.
    public var epoch: Int64

    /// Names a life of an instance.
    public init(_ instance: InstanceName, epoch: Int64) {
        self.instance = instance
        self.epoch = epoch
    }
}

/// Apple's two worlds of tokens: one of the other world is answered `BadDeviceToken`.
public enum APNsEnvironment: String, Codable, Sendable, CaseIterable, Comparable {
    case production = "production"
    case sandbox = "sandbox"

    /// Orders by name.
    public static func < (left: APNsEnvironment, right: APNsEnvironment) -> Bool {
        left.rawValue < right.rawValue
    }
}
