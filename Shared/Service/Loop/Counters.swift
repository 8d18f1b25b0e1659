import Bus
import Contracts
import Telemetry

/// The numbers that every service shows, and those that its core asks to be counted.
struct Counters {
    private let metrics: Metrics
    private var known: [String: (counter: Counter, labels: [String])] = [:]
    private let received: Counter
    private let sent: Counter
    private let bad: Counter
    private let storeErrors: Counter
    private let ended: CounterSeries
    private let kept: Gauge
    private let waiting: Gauge
    private let neighbours: Gauge

    init(_ metrics: Metrics, instance: InstanceName) {
        self.metrics = metrics
        received = metrics.counter(
            "liveline_messages_received_total", help: "Messages taken from the bus.", labels: ["type"])
        sent = metrics.counter(
            "liveline_messages_sent_total", help: "Messages handed to the bus.", labels: ["type"])
        bad = metrics.counter(
            "liveline_messages_bad_total", help: "Messages dropped because they were none.", labels: ["kind"])
        // A series that begins with its first fault hides that fault from who looks at differences.
        for kind in BadMessage.kinds { _ = bad.series([kind]) }
        storeErrors = metrics.counter(
            "liveline_store_errors_total", help: "Transactions that failed.", labels: ["kind"])
        ended =
            metrics.counter(
                "liveline_connections_ended_total", help: "Incoming connections of the bus that ended."
            ).series()
        kept = metrics.gauge("liveline_kept", help: "Pieces of work kept until they are answered.")
        waiting = metrics.gauge("liveline_waiting", help: "Pieces of work that are here and not done.")
        neighbours = metrics.gauge(
            "liveline_neighbours", help: "Living instances of neighbours.", labels: ["service"])
        metrics.gauge(
            "liveline_build_info", help: "The version of the program, always 1.",
            labels: ["instance", "version"]
        ).set(1, ["\(instance)", Release.version])
    }

    func received(_ type: MessageType, _ count: Int) { received.add(count, [type.rawValue]) }
    func sent(_ type: MessageType, _ count: Int) { sent.add(count, [type.rawValue]) }
    func bad(_ kind: String) { bad.add(1, [kind]) }
    func storeError(_ kind: String) { storeErrors.add(1, [kind]) }
    func connectionsEnded(_ count: Int) { ended.add(count) }
    func kept(_ count: Int) { kept.set(count) }
    func waiting(_ count: Int) { waiting.set(count) }
    func neighbours(_ count: Int, of service: ServiceName) { neighbours.set(count, [service.rawValue]) }

    /// Adds to a counter of the core's; a name or labels that do not fit are a mistake of the core and left out.
    ///
    /// - Returns: whether it was counted.
    mutating func add(_ count: Count) -> Bool {
        let labels = count.labels.map(\.name)
        let entry = known[count.name] ?? register(count.name, labels)
        guard let entry, entry.labels == labels, count.by >= 0 else { return false }
        entry.counter.add(count.by, count.labels.map(\.value))
        return true
    }

    private mutating func register(_ name: String, _ labels: [String]) -> (Counter, [String])? {
        let words = [name] + labels
        let areWords = words.allSatisfy { word in
            !word.isEmpty && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
        }
        guard areWords, !Counters.taken.contains(name), Set(labels).count == labels.count else { return nil }
        let help = "Counted by the service: \(name.replacing("_", with: " "))."
        let counter = metrics.counter("liveline_\(name)_total", help: help, labels: labels)
        known[name] = (counter, labels)
        return (counter, labels)
    }

    private static let taken: Set<String> = [
        "messages_received", "messages_sent", "messages_bad", "store_errors", "connections_ended",
    ]
}

/// Why a message is dropped, in the words of the metrics and the log.
enum BadMessage {
    /// It came from a service that has no business here.
    static let unexpectedSender = "unexpected-sender"
    /// It cannot be read.
    static let notAMessage = "not-a-message"

    /// All of them, with those that the bus itself finds.
    static let kinds = [notAMessage, unexpectedSender] + Received.Fault.allCases.map(\.rawValue)
}
