extension CanonicalWriter {
    /// The bodies of messages of one type as a JSON array; nil if the usual encoder has to write them.
    ///
    /// - Parameters:
    ///   - messages: of one type.
    ///   - usualCommand: writes a command in the usual way.
    /// - Returns: the array.
    static func bodies(_ messages: [Message], usualCommand: (Command) throws -> [UInt8]) -> [UInt8]? {
        var writer = CanonicalWriter()
        writer.byte("[")
        for (index, message) in messages.enumerated() {
            if index > 0 { writer.byte(",") }
            guard writer.body(message, usualCommand) else { return nil }
        }
        writer.byte("]")
        return writer.bytes
    }

    private mutating func body(_ message: Message, _ usualCommand: (Command) throws -> [UInt8]) -> Bool {
        switch message {
        case .registration(let registration): registration.write(to: &self)
        case .registrations(let group): group.write(to: &self)
        case .command(let command): command.write(to: &self)
        case .batch(let batch):
            var command = CanonicalWriter()
            batch.command.write(to: &command)
            guard let bytes = command.isCanonical ? command.bytes : try? usualCommand(batch.command) else {
                return false
            }
            batch.write(to: &self, command: bytes)
        case .targets(let targets): targets.write(to: &self)
        case .pushes(let pushes): pushes.write(to: &self)
        case .report(let report): report.write(to: &self)
        case .taken(let taken): taken.write(to: &self)
        case .settled(let settled): settled.write(to: &self)
        case .noted(let noted): noted.write(to: &self)
        case .hello, .retarget, .busy, .fact, .query, .answer: return false
        }
        return isCanonical
    }
}

extension CanonicalReader {
    /// The messages of one type in a JSON array; nil if the usual decoder has to look at it.
    ///
    /// - Parameters:
    ///   - type: what the array holds.
    ///   - bytes: the array.
    ///   - usualCommand: reads a command in the usual way.
    /// - Returns: the messages.
    static func bodies(
        _ type: MessageType, _ bytes: [UInt8], usualCommand: (ArraySlice<UInt8>) -> Command?
    ) -> [Message]? {
        var reader = CanonicalReader(bytes)
        let messages: [Message]? =
            switch type {
            case .registration: reader.array { Registration(from: &$0).map(Message.registration) }
            case .registrations:
                reader.array { RegistrationGroup(from: &$0).map(Message.registrations) }
            case .command: reader.array { Command(from: &$0).map(Message.command) }
            case .batch: reader.array { Batch(from: &$0, usualCommand: usualCommand).map(Message.batch) }
            case .targets: reader.array { Targets(from: &$0).map(Message.targets) }
            case .pushes: reader.array { Pushes(from: &$0).map(Message.pushes) }
            case .report: reader.array { Report(from: &$0).map(Message.report) }
            case .taken: reader.array { Taken(from: &$0).map(Message.taken) }
            case .settled: reader.array { Settled(from: &$0).map(Message.settled) }
            case .noted: reader.array { Noted(from: &$0).map(Message.noted) }
            case .hello, .retarget, .busy, .fact, .query, .answer: nil
            }
        return reader.isAtEnd ? messages : nil
    }
}
