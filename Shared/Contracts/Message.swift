/// One message between services.
public enum Message: Sendable, Equatable {
    case hello(Hello)
    case registration(Registration)
    case registrations(RegistrationGroup)
    case command(Command)
    case batch(Batch)
    case targets(Targets)
    case retarget(Retarget)
    case pushes(Pushes)
    case report(Report)
    case taken(Taken)
    case busy(Busy)
    case settled(Settled)
    case fact(Fact)
    case noted(Noted)
    case query(Query)
    case answer(Answer)

    /// What kind it is.
    public var type: MessageType {
        switch self {
        case .hello: .hello
        case .registration: .registration
        case .registrations: .registrations
        case .command: .command
        case .batch: .batch
        case .targets: .targets
        case .retarget: .retarget
        case .pushes: .pushes
        case .report: .report
        case .taken: .taken
        case .busy: .busy
        case .settled: .settled
        case .fact: .fact
        case .noted: .noted
        case .query: .query
        case .answer: .answer
        }
    }

    /// The raw members behind the body; empty for a message without them.
    public var payload: Payload {
        get {
            switch self {
            case .command(let command): command.payload
            case .batch(let batch): batch.command.payload
            case .targets(let targets): targets.payload
            case .pushes(let pushes): pushes.payload
            default: Payload()
            }
        }
        set {
            switch self {
            case .command(var command):
                command.payload = newValue
                self = .command(command)
            case .batch(var batch):
                batch.command.payload = newValue
                self = .batch(batch)
            case .targets(var targets):
                targets.payload = newValue
                self = .targets(targets)
            case .pushes(var pushes):
                pushes.payload = newValue
                self = .pushes(pushes)
            default: break
            }
        }
    }
}
