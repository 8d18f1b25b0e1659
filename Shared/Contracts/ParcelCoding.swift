public import FoundationEssentials

/// What is wrong with frames that are not a message.
///
/// Their content is never shown.
public struct ParcelError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was expected.
    public var problem: String
    /// How many bytes the frames have together.
    public var byteCount: Int

    init(_ problem: String, _ frames: [[UInt8]]) {
        self.problem = problem
        byteCount = frames.reduce(0) { $0 + $1.count }
    }

    /// One line for a log.
    public var description: String { "\(problem) (\(byteCount) bytes)" }
}

/// Writes parcels as frames and reads them: envelope, bodies as a JSON array, then three raw frames a body for
/// the types that carry a payload.
public struct ParcelCoder {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    /// Makes a coder; one a thread.
    public init() {
        // Sorted, so that golden files can be compared byte for byte.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    /// The frames of a parcel.
    ///
    /// - Throws: `EncodingError` for a number JSON cannot hold.
    public func frames(_ parcel: Parcel) throws -> [[UInt8]] {
        var frames = [try head(parcel.envelope), try bodies(parcel.messages)]
        guard parcel.envelope.type.carriesPayload else { return frames }
        frames.reserveCapacity(2 + 3 * parcel.messages.count)
        for message in parcel.messages {
            let payload = message.payload
            frames.append(payload.contentState)
            frames.append(payload.attributes)
            frames.append(payload.alert)
        }
        return frames
    }

    private func head(_ envelope: Envelope) throws -> [UInt8] {
        var writer = CanonicalWriter()
        envelope.write(to: &writer)
        return writer.isCanonical ? writer.bytes : [UInt8](try encoder.encode(envelope))
    }

    /// Reads a parcel.
    ///
    /// - Throws: `ParcelError` for anything that is not one.
    public func parcel(_ frames: [[UInt8]]) throws(ParcelError) -> Parcel {
        guard frames.count >= 2 else {
            throw ParcelError("fewer than two frames", frames)
        }
        let envelope = try envelope(frames)
        guard var messages = try? messages(envelope.type, frames[1]) else {
            throw ParcelError("the bodies of \(envelope.type.rawValue) do not decode", frames)
        }
        let perBody = envelope.type.carriesPayload ? 3 : 0
        guard !messages.isEmpty, frames.count == 2 + perBody * messages.count else {
            throw ParcelError("\(envelope.type.rawValue) has \(frames.count) frames", frames)
        }
        guard perBody > 0 else { return Parcel(envelope: envelope, messages: messages) }
        for index in messages.indices {
            messages[index].payload = Payload(
                contentState: frames[2 + 3 * index], attributes: frames[3 + 3 * index],
                alert: frames[4 + 3 * index])
        }
        return Parcel(envelope: envelope, messages: messages)
    }

    private func envelope(_ frames: [[UInt8]]) throws(ParcelError) -> Envelope {
        var reader = CanonicalReader(frames[0])
        if let envelope = Envelope(from: &reader), reader.isAtEnd { return envelope }
        let head = Data(frames[0])
        guard let version = try? decoder.decode(VersionOnly.self, from: head) else {
            throw ParcelError("the first frame is no envelope", frames)
        }
        guard Envelope.versionsRead.contains(version.v) else {
            throw ParcelError("version \(version.v) is not read here", frames)
        }
        guard let envelope = try? decoder.decode(Envelope.self, from: head) else {
            throw ParcelError("the envelope's type or sender is unknown", frames)
        }
        return envelope
    }

    private struct VersionOnly: Decodable { var v: Int }

    /// The bodies of messages of one type as a JSON array, without their raw frames.
    ///
    /// - Throws: `EncodingError` for a number JSON cannot hold.
    public func bodies(_ messages: [Message]) throws -> [UInt8] {
        let quick = CanonicalWriter.bodies(messages) { [UInt8](try encoder.encode($0)) }
        if let quick { return quick }
        var bytes = [UInt8(ascii: "[")]
        for (index, message) in messages.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: try body(message))
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// The messages whose bodies `bodies` has written, without their raw frames.
    ///
    /// - Throws: `DecodingError` for anything else.
    public func messages(_ type: MessageType, _ bytes: [UInt8]) throws -> [Message] {
        let quick = CanonicalReader.bodies(type, bytes) {
            try? decoder.decode(Command.self, from: Data($0))
        }
        return try quick ?? decodeBodies(type, Data(bytes))
    }

    /// The JSON body of one message, without its raw frames.
    ///
    /// - Throws: `EncodingError` for a number JSON cannot hold.
    public func body(_ message: Message) throws -> Data {
        switch message {
        case .hello(let body): try encoder.encode(body)
        case .registration(let body): try encoder.encode(body)
        case .registrations(let body): try encoder.encode(body)
        case .command(let body): try encoder.encode(body)
        case .batch(let body): try encoder.encode(body)
        case .targets(let body): try encoder.encode(body)
        case .retarget(let body): try encoder.encode(body)
        case .pushes(let body): try encoder.encode(body)
        case .report(let body): try encoder.encode(body)
        case .taken(let body): try encoder.encode(body)
        case .busy(let body): try encoder.encode(body)
        case .settled(let body): try encoder.encode(body)
        case .fact(let body): try encoder.encode(body)
        case .noted(let body): try encoder.encode(body)
        case .query(let body): try encoder.encode(body)
        case .answer(let body): try encoder.encode(body)
        }
    }

    /// Reads the bodies of one type from a JSON array, without their raw frames.
    ///
    /// - Throws: `DecodingError` for anything else.
    public func decodeBodies(_ type: MessageType, _ data: Data) throws -> [Message] {
        func read<Body: Decodable>(_ wrap: (Body) -> Message) throws -> [Message] {
            try decoder.decode([Body].self, from: data).map(wrap)
        }
        return switch type {
        case .hello: try read(Message.hello)
        case .registration: try read(Message.registration)
        case .registrations: try read(Message.registrations)
        case .command: try read(Message.command)
        case .batch: try read(Message.batch)
        case .targets: try read(Message.targets)
        case .retarget: try read(Message.retarget)
        case .pushes: try read(Message.pushes)
        case .report: try read(Message.report)
        case .taken: try read(Message.taken)
        case .busy: try read(Message.busy)
        case .settled: try read(Message.settled)
        case .fact: try read(Message.fact)
        case .noted: try read(Message.noted)
        case .query: try read(Message.query)
        case .answer: try read(Message.answer)
        }
    }
}
