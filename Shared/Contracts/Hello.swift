/// Says that an instance lives, to every instance it exchanges messages with, each second.
///
/// From: each. To: each neighbour. Kept: never. Nothing is sent to an instance that has not said it.
public struct Hello: Codable, Sendable, Equatable {
    /// How many unanswered messages of each kind the instance takes.
    public var windows: Windows
    /// The versions of the contracts it reads.
    public var versions: [Int]
    /// What the registry holds back; empty from all others.
    public var paused: [Pause]

    /// Joins what a hello says.
    public init(windows: Windows, versions: [Int] = Envelope.versionsRead, paused: [Pause] = []) {
        self.windows = windows
        self.versions = versions
        self.paused = paused
    }
}

/// The kinds of work a receiver bounds.
public enum WindowKind: String, Codable, Sendable, CaseIterable {
    case registrations = "registrations"
    case commands = "commands"
    case batches = "batches"
    case targets = "targets"
    case pushes = "pushes"
}

/// How much of each kind a sender may have unanswered at one receiver.
public struct Windows: Codable, Sendable, Equatable {
    /// Registrations.
    public var registrations: Int
    /// Commands.
    public var commands: Int
    /// Recipients of batches; a batch that names none counts as one.
    public var batches: Int
    /// Single targets.
    public var targets: Int
    /// Single pushes.
    public var pushes: Int

    /// The defaults.
    public init(
        registrations: Int = 1_000, commands: Int = 256, batches: Int = 4_000, targets: Int = 10_000,
        pushes: Int = 2_000
    ) {
        self.registrations = registrations
        self.commands = commands
        self.batches = batches
        self.targets = targets
        self.pushes = pushes
    }

    /// The bound of one kind.
    public subscript(kind: WindowKind) -> Int {
        switch kind {
        case .registrations: registrations
        case .commands: commands
        case .batches: batches
        case .targets: targets
        case .pushes: pushes
        }
    }
}

/// One application whose pushes in one environment are held back.
public struct Pause: Codable, Sendable, Hashable, Comparable {
    /// The application's code.
    public var application: String
    /// The environment.
    public var environment: APNsEnvironment

    /// Names what is paused.
    public init(application: String, environment: APNsEnvironment) {
        self.application = application
        self.environment = environment
    }

    /// Orders by application, then by environment.
    public static func < (left: Pause, right: Pause) -> Bool {
        (left.application, left.environment) < (right.application, right.environment)
    }
}
