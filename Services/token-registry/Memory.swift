import Contracts
import Service

/// What the registry has at hand between two steps; all of it is read from the ledger when it starts.
final class Memory {
    var configuration: Configuration
    /// The configuration was read again since the last turn.
    var isReloaded = false
    let limits: Limits
    /// Messages and runs as the ledger holds them.
    var messages: [Int64: MessageRecord] = [:]
    var runs: [Int64: RunRecord] = [:]
    var contents: [Int64: Content] = [:]
    /// The integers that stand for applications in places, and back.
    var applications: [String: Int64] = [:]
    var applicationCodes: [Int64: String] = [:]
    /// What is held back, or close to it.
    var gates: [Pause: Gate] = [:]
    /// What waits, by application.
    var load: [String: Load] = [:]
    var totalLoad = Load()
    var rounds = Rounds()
    var rest: FanOutRest
    /// Batches that are being taken in, in the order of their turns; at most a window of each segmenter.
    var arriving: [ArrivingBatch] = []
    /// Single messages whose activity is still gone through.
    var expanding: Expanding
    /// The same of fan-outs.
    var expandingFanOuts: Expanding
    var sweepAt: Int64?
    var removalAt: Int64?
    var nextParticipant: Int64 = 1
    /// Where the handed-over rows of the former life are sent again from; nil when all have been.
    var resendAfter: (at: Int64, id: PushID)?
    var resendThrough: Int64 = .min
    /// Whether the last turn sent as many of them again as one may, so that the next one goes on.
    var isResending = false
    /// Handed-over rows of the former life that could not be sent again, and until when a report may come.
    var orphans: [(at: Int64, id: PushID, attempt: Int)] = []
    var settledNotes = UnderWay()
    var takenNotes = UnderWay()
    var factNotes = UnderWay()
    var clockStep = ClockStep()
    /// When the wall clock was last kept in the ledger, on the monotonic one.
    var clockKeptAt: Int64?

    init(configuration: Configuration, limits: Limits) {
        self.configuration = configuration
        self.limits = limits
        rest = FanOutRest(limits)
        expanding = Expanding(countMax: limits.expandingMax)
        expandingFanOuts = Expanding(countMax: limits.expandingMax)
    }

    /// Rows without an outcome, and the bytes of their messages.
    struct Load: Equatable {
        var rows = 0
        var bytes = 0
    }

    func addLoad(_ application: String, rows: Int, bytes: Int) {
        load[application, default: Load()].rows += rows
        load[application, default: Load()].bytes += bytes
        totalLoad.rows += rows
        totalLoad.bytes += bytes
    }

    /// Whether so much more of one application would be too much.
    func isFull(_ application: String, rows: Int, bytes: Int) -> Bool {
        let own = load[application] ?? Load()
        return totalLoad.rows + rows > limits.rowsMax || totalLoad.bytes + bytes > limits.bytesMax
            || own.rows + rows > limits.rowsMax / limits.shareDivisor
            || own.bytes + bytes > limits.bytesMax / limits.shareDivisor
    }

    func settings(_ application: String) -> DeliverySettings {
        configuration.application(application)?.delivery ?? configuration.delivery
    }

    func environment(_ device: DeviceFields) -> APNsEnvironment {
        device.environment ?? configuration.application(device.application)?.environment ?? .production
    }

    /// The longest time that any application's pushes may stay unsent, in milliseconds.
    var sendBeforeLongestMilliseconds: Int64 {
        let all = configuration.applications.map(\.delivery.sendBeforeSeconds)
        return (all + [configuration.delivery.sendBeforeSeconds]).reduce(0, max) * 1000
    }

    /// How long a device waits between pushes, in milliseconds.
    func interval(_ device: DeviceFields) -> Int64 {
        let frequent = configuration.application(device.application)?.frequent ?? false
        return settings(device.application).intervalMilliseconds(
            frequent: frequent && device.frequentPushes != false)
    }

    /// What may send nothing at an instant, in milliseconds since 1970, also no trial.
    func held(at now: Int64) -> Set<Pause> {
        Set(gates.values.lazy.filter { $0.opensAt ?? .max > now }.map(\.pause))
    }

    /// Lets go of what the ledger can tell again.
    func trim() {
        if messages.count > limits.cachedRecordsMax { messages.removeAll(keepingCapacity: true) }
        if runs.count > limits.cachedRecordsMax { runs.removeAll(keepingCapacity: true) }
    }
}

/// Which answers of one kind ingest has not noted, as far as they were sent.
struct UnderWay {
    private(set) var keys: Set<Int64> = []
    /// The last one sent.
    private(set) var last: Int64 = 0
    /// Whether the ledger may hold more than was sent.
    var hasMore = true

    /// Whether one more may be sent.
    mutating func take(_ key: Int64, max: Int) -> Bool {
        guard keys.count < max else {
            hasMore = true
            return false
        }
        keys.insert(key)
        last = Swift.max(last, key)
        return true
    }

    mutating func noted(_ key: Int64) { keys.remove(key) }
}
