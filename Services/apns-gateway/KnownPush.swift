import Collections
import Contracts

/// What the gateway knows of one push, from its arrival until its outcome is noted; then `NotedPush` is left of it.
struct KnownPush {
    /// A limiter that waits for the outcome, under the hand-over that it knows.
    struct Asker: Equatable {
        var instance: InstanceName
        var attempt: Int
    }

    /// How a push ended.
    struct Outcome: Equatable {
        var result: Report.Result
        var status: Int?
        var reason: String?
        var apnsTimestampMilliseconds: Int64?
        var retryAtMilliseconds: Int64?
        /// When it was written to APNs, milliseconds since 1970; nil if nothing was sent.
        var sentAtMilliseconds: Int64?
    }

    /// The highest hand-over heard of.
    var attempt: Int
    /// The request that is on its way, or was.
    let number: Int
    let application: String
    var environment: APNsEnvironment
    let token: String
    var wireTimestampSeconds: Int64
    var priority: Int
    let expirationSeconds: Int64
    var firstAsker: Asker
    var otherAskers: [Asker] = []
    /// Nil while it is on its way.
    var outcome: Outcome?

    init(_ push: Push, number: Int, application: String, expirationSeconds: Int64, asker: InstanceName) {
        attempt = push.attempt
        self.number = number
        self.application = application
        environment = push.environment
        token = push.token
        wireTimestampSeconds = push.timestampSeconds
        priority = push.priority
        self.expirationSeconds = expirationSeconds
        firstAsker = Asker(instance: asker, attempt: push.attempt)
    }

    /// Everyone who waits for the outcome.
    var askers: [Asker] { [firstAsker] + otherAskers }

    /// Adds a limiter, unless it waits already under this hand-over.
    mutating func add(_ asker: Asker) {
        guard asker != firstAsker, !otherAskers.contains(asker) else { return }
        otherAskers.append(asker)
    }

    /// The outcome as it is reported; nil while there is none.
    func report(_ id: PushID, attempt: Int) -> Report? {
        guard let outcome else { return nil }
        var report = Report(
            id: id, attempt: attempt, application: application, environment: environment,
            result: outcome.result, status: outcome.status, reason: outcome.reason)
        report.apnsTimestampMilliseconds = outcome.apnsTimestampMilliseconds
        report.retryAtMilliseconds = outcome.retryAtMilliseconds
        guard let sentAt = outcome.sentAtMilliseconds else { return report }
        report.token = token
        report.sentAtMilliseconds = sentAt
        report.wireTimestampSeconds = wireTimestampSeconds
        report.priority = priority
        return report
    }
}

/// Things that fall due about in the order in which they were added.
struct DueList<Item> {
    private var items = FIFO<(due: Int64, item: Item)>()

    /// How many there are.
    var count: Int { items.count }

    /// When the first one falls due.
    var nextDue: Int64? { items.first?.due }

    mutating func add(_ item: Item, due: Int64) { items.append((due, item)) }

    /// Takes the first one if it is due.
    mutating func pop(at now: Int64) -> Item? {
        guard let nextDue, nextDue <= now else { return nil }
        return items.popFirst()?.item
    }

    /// Takes out all that match.
    mutating func removeAll(where matches: (Item) -> Bool) { items.removeAll { matches($0.item) } }
}
