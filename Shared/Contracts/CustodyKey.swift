/// Names what a sender keeps until it is answered; the answer carries the same key.
public enum CustodyKey: Hashable, Sendable {
    /// A registration, at one of its receivers.
    case registration(sequence: Int64, by: ServiceName)
    /// A command.
    case command(message: Int64)
    /// A batch.
    case batch(message: Int64, pass: Pass, index: Int)
    /// A target or a push, at one hand-over.
    case push(PushID, attempt: Int)
    /// A report of one hand-over.
    case report(PushID, attempt: Int)
    /// That a message is taken.
    case taken(message: Int64)
    /// That a registration is taken.
    case registered(sequence: Int64, by: ServiceName)
    /// That a message is settled.
    case settled(message: Int64, revision: Int64)
    /// A fact.
    case fact(number: Int64)
}

extension CustodyKey: Codable, CustomStringConvertible {
    /// The key as one word, such as `report:12:7:1`.
    public var description: String {
        switch self {
        case .registration(let sequence, let service): "registration:\(sequence):\(service.rawValue)"
        case .command(let message): "command:\(message)"
        case .batch(let message, let pass, let index):
            "batch:\(message):\(pass.epoch):\(pass.number):\(index)"
        case .push(let id, let attempt): "push:\(id.message):\(id.device):\(attempt)"
        case .report(let id, let attempt): "report:\(id.message):\(id.device):\(attempt)"
        case .taken(let message): "taken:\(message)"
        case .registered(let sequence, let service): "registered:\(sequence):\(service.rawValue)"
        case .settled(let message, let revision): "settled:\(message):\(revision)"
        case .fact(let number): "fact:\(number)"
        }
    }

    /// Reads the one-word form; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().map { Int64($0) }
        func number(_ index: Int) -> Int64? { index < numbers.count ? numbers[index] : nil }
        func int(_ index: Int) -> Int? { number(index).flatMap { Int(exactly: $0) } }
        let service = parts.count == 3 ? ServiceName(rawValue: String(parts[2])) : nil
        let pair: PushID? =
            if let message = number(0), let device = number(1) {
                PushID(message: message, device: device)
            } else {
                nil
            }
        let key: CustodyKey?
        switch (parts.first, parts.count) {
        case ("registration", 3):
            key = number(0).flatMap { n in service.map { .registration(sequence: n, by: $0) } }
        case ("registered", 3):
            key = number(0).flatMap { n in service.map { .registered(sequence: n, by: $0) } }
        case ("command", 2): key = number(0).map { .command(message: $0) }
        case ("batch", 5):
            if let message = number(0), let epoch = number(1), let pass = number(2), let index = int(3) {
                key = .batch(message: message, pass: Pass(epoch: epoch, number: pass), index: index)
            } else {
                key = nil
            }
        case ("push", 4): key = pair.flatMap { id in int(2).map { .push(id, attempt: $0) } }
        case ("report", 4): key = pair.flatMap { id in int(2).map { .report(id, attempt: $0) } }
        case ("taken", 2): key = number(0).map { .taken(message: $0) }
        case ("settled", 3):
            key = number(0).flatMap { n in number(1).map { .settled(message: n, revision: $0) } }
        case ("fact", 2): key = number(0).map { .fact(number: $0) }
        default: key = nil
        }
        guard let key else { return nil }
        self = key
    }

    /// Reads the one-word form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let key = CustodyKey(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a custody key")
        }
        self = key
    }

    /// Writes the one-word form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
