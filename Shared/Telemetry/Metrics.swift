import Synchronization

/// The counters and gauges of one process.
///
/// A metric is registered once, with its help text and the names of its labels; registering it again in the same way
/// gives the same one. A bad name, or the same name for another thing, is a mistake in the program and a trap.
public final class Metrics: Sendable {
    /// How many series one metric has at the most; what comes after is counted in one whose labels say `other`.
    public static let seriesMax = 1_000

    /// The label value of the series that takes what is over ``seriesMax``.
    public static let overflowLabel = "other"

    private let families = Mutex<[String: MetricFamily]>([:])

    /// Makes an empty registry.
    public init() {}

    /// Registers a number that only grows, named in the plural and with `_total` at its end.
    public func counter(_ name: String, help: String, labels: [String] = []) -> Counter {
        Counter(family: register(name, help: help, kind: .counter, labels: labels))
    }

    /// Registers a number that goes up and down, named with its unit.
    public func gauge(_ name: String, help: String, labels: [String] = []) -> Gauge {
        Gauge(family: register(name, help: help, kind: .gauge, labels: labels))
    }

    var sortedFamilies: [MetricFamily] {
        families.withLock { Array($0.values) }.sorted { $0.name < $1.name }
    }

    private func register(
        _ name: String, help: String, kind: MetricFamily.Kind, labels: [String]
    ) -> MetricFamily {
        precondition(isMetricName(name), "\(name) is no metric name")
        precondition(labels.allSatisfy(isLabelName) && Set(labels).count == labels.count, "labels of \(name)")
        return families.withLock { families in
            guard let known = families[name] else {
                let family = MetricFamily(name: name, help: help, kind: kind, labels: labels)
                families[name] = family
                return family
            }
            precondition(known.kind == kind && known.labels == labels, "\(name) is another metric")
            return known
        }
    }
}

/// Whether a word is a metric name: letters, digits, underscores and colons, no digit first (Prometheus, Data model).
func isMetricName(_ name: String) -> Bool {
    isName(name) { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ":") }
}

/// Whether a word is a label name: as a metric name, without colons; two leading underscores are Prometheus' own.
func isLabelName(_ name: String) -> Bool {
    !name.hasPrefix("__") && isName(name) { $0 == UInt8(ascii: "_") }
}

private func isName(_ name: String, besides isExtra: (UInt8) -> Bool) -> Bool {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    guard let first = name.utf8.first, !digits.contains(first) else { return false }
    return name.utf8.allSatisfy { digits.contains($0) || letters.contains($0 | 0x20) || isExtra($0) }
}
