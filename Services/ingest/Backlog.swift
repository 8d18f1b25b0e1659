/// How much of what was accepted is not taken yet, for the whole and for each application.
struct Backlog {
    /// What one account holds.
    struct Held: Equatable, Sendable {
        var commands = 0
        var commandBytes = 0
        var registrations = 0
    }

    let limits: IngestLimits
    private(set) var total = Held()
    private(set) var byApplication: [String: Held] = [:]
    /// What is free where the journal is, and its size; nil while nobody says so, as for a journal in memory.
    var disk: (freeBytes: Int64, sizeBytes: Int64)?

    init(_ limits: IngestLimits) { self.limits = limits }

    mutating func add(commands count: Int = 1, bytes: Int, application: String) {
        change(application) {
            $0.commands += count
            $0.commandBytes += bytes
        }
    }

    mutating func remove(commandOfBytes bytes: Int, application: String) {
        change(application) {
            $0.commands -= 1
            $0.commandBytes -= bytes
        }
    }

    mutating func add(registrations count: Int, application: String) {
        change(application) { $0.registrations += count }
    }

    mutating func remove(registrations count: Int, application: String) {
        change(application) { $0.registrations -= count }
    }

    private mutating func change(_ application: String, _ body: (inout Held) -> Void) {
        body(&total)
        body(&byApplication[application, default: Held()])
        if byApplication[application] == Held() { byApplication[application] = nil }
    }

    /// Why no command of an application is taken for now; nil if it is.
    func refusal(commandOf application: String) -> Refusal? {
        let own = byApplication[application] ?? Held()
        if let refusal = refusalForSpace { return refusal }
        guard total.commands < limits.commandsMax, total.commandBytes < limits.commandBytesMax else {
            return .busy("too many messages are waiting")
        }
        guard own.commands < limits.share(limits.commandsMax),
            own.commandBytes < limits.share(limits.commandBytesMax)
        else { return .busy("too many messages of this application are waiting") }
        return nil
    }

    /// Why nothing is taken that can be sent again, for lack of disk space; nil if it is.
    ///
    /// What is left is for the registrations of phones.
    var refusalForSpace: Refusal? {
        guard let disk, disk.freeBytes < min(limits.diskReserveBytes, disk.sizeBytes / 8) else { return nil }
        return .busy("storage is nearly full", retryAfterSeconds: 30)
    }

    /// Whether an import of an application may go on.
    func hasRoom(forImportOf application: String) -> Bool {
        let own = byApplication[application]?.registrations ?? 0
        return own < limits.importWaitingMax && refusal(registrationOf: application) == nil
    }

    /// Why no registration of an application is taken for now; nil if it is.
    ///
    /// They are refused last: an app whose registration is lost tells its token no second time.
    func refusal(registrationOf application: String) -> Refusal? {
        let own = byApplication[application]?.registrations ?? 0
        guard total.registrations < limits.registrationsMax, own < limits.share(limits.registrationsMax)
        else {
            return .busy("too many registrations are waiting")
        }
        return nil
    }
}
