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
    private var commands: [Int64: (application: String, bytes: Int)] = [:]

    init(_ limits: IngestLimits) { self.limits = limits }

    mutating func add(command: Int64, bytes: Int, application: String) {
        commands[command] = (application, bytes)
        change(application) {
            $0.commands += 1
            $0.commandBytes += bytes
        }
    }

    mutating func remove(command: Int64) {
        guard let (application, bytes) = commands.removeValue(forKey: command) else { return }
        change(application) {
            $0.commands -= 1
            $0.commandBytes -= bytes
        }
    }

    mutating func addRegistration(application: String) { change(application) { $0.registrations += 1 } }

    mutating func removeRegistration(application: String) { change(application) { $0.registrations -= 1 } }

    private mutating func change(_ application: String, _ body: (inout Held) -> Void) {
        body(&total)
        body(&byApplication[application, default: Held()])
        if byApplication[application] == Held() { byApplication[application] = nil }
    }

    /// Why no command of an application is taken for now; nil if it is.
    func refusal(commandOf application: String) -> Refusal? {
        let own = byApplication[application] ?? Held()
        if let disk, disk.freeBytes < min(limits.diskReserveBytes, disk.sizeBytes / 8) {
            return .busy("storage is nearly full", retryAfterSeconds: 30)
        }
        guard total.commands < limits.commandsMax, total.commandBytes < limits.commandBytesMax else {
            return .busy("too many messages are waiting")
        }
        guard own.commands < limits.share(limits.commandsMax),
            own.commandBytes < limits.share(limits.commandBytesMax)
        else { return .busy("too many messages of this application are waiting") }
        return nil
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

/// Says how much waits, when that has changed, but not more than once a second.
struct WaitingWord {
    static let everyMilliseconds: Int64 = 1_000

    private var said: Backlog.Held?
    private var notBeforeMilliseconds = Int64.min
    /// When there is something to say, on the monotonic clock; nil while nothing has changed.
    private(set) var nextMilliseconds: Int64?

    /// What is to be said now.
    mutating func say(_ held: Backlog.Held, nowMilliseconds now: Int64) -> Backlog.Held? {
        guard held != said else {
            nextMilliseconds = nil
            return nil
        }
        guard now >= notBeforeMilliseconds else {
            nextMilliseconds = notBeforeMilliseconds
            return nil
        }
        said = held
        notBeforeMilliseconds = now + WaitingWord.everyMilliseconds
        nextMilliseconds = nil
        return held
    }
}

/// Every limit of ingest.
struct IngestLimits: Equatable, Sendable {
    /// How many commands may wait until they are taken; 200,000.
    var commandsMax = 200_000
    /// How much they may hold together, in bytes; 512 MiB.
    var commandBytesMax = 512 << 20
    /// How many registrations may wait until they are taken; 1,000,000.
    var registrationsMax = 1_000_000
    /// Which part of each limit one application may use; a quarter.
    var applicationShare = 4
    /// The disk space that is kept for registrations, in bytes; 16 MiB, or an eighth of the disk if that is less.
    var diskReserveBytes: Int64 = 16 << 20
    /// How long a settled message can be asked about, in milliseconds; 7 days.
    var retentionMilliseconds: Int64 = 7 * 86_400_000
    /// How long what is known of a run or token is remembered, in milliseconds; 12 h, as long as iOS shows an activity.
    var memoryMilliseconds: Int64 = 12 * 3_600_000
    /// How long an empty token is ignored after a first token, in milliseconds; 10 s.
    ///
    /// The SDK ends an older activity of the same id when a new one appears, and says so after the new one's token.
    var emptyTokenMilliseconds: Int64 = 10_000
    /// How long a start at the Firebase door is known by its bytes, in milliseconds; 60 s.
    var sameStartMilliseconds: Int64 = 60_000

    /// The part of a limit that one application may use.
    func share(_ limit: Int) -> Int { max(1, limit / applicationShare) }
}
