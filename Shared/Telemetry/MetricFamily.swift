import Synchronization

/// One named metric with all its series.
final class MetricFamily: Sendable {
    enum Kind: String, Sendable { case counter, gauge }

    private struct Series {
        var indices: [[String]: Int] = [:]
        var values: [Double] = []
    }

    let name: String
    let help: String
    let kind: Kind
    let labels: [String]
    private let series = Mutex(Series())

    init(name: String, help: String, kind: Kind, labels: [String]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
        if labels.isEmpty { _ = index(of: []) }
    }

    /// The place of the series with these label values, made when it is new.
    func index(of labelValues: [String]) -> Int {
        precondition(labelValues.count == labels.count, "\(name) has \(labels.count) labels")
        return series.withLock { series in
            if let index = series.indices[labelValues] { return index }
            let isFull = series.values.count >= Metrics.seriesMax
            let key = isFull ? labels.map { _ in Metrics.overflowLabel } : labelValues
            if let index = series.indices[key] { return index }
            series.indices[key] = series.values.count
            series.values.append(0)
            return series.values.count - 1
        }
    }

    func add(_ amount: Double, at index: Int) {
        series.withLock { $0.values[index] += amount }
    }

    func set(_ value: Double, at index: Int) {
        series.withLock { $0.values[index] = value }
    }

    func value(at index: Int) -> Double {
        series.withLock { $0.values[index] }
    }

    /// Every series with its value, in the order of the label values.
    func sorted() -> [(labelValues: [String], value: Double)] {
        let pairs = series.withLock { series in
            series.indices.map { (labelValues: $0.key, value: series.values[$0.value]) }
        }
        return pairs.sorted { $0.labelValues.lexicographicallyPrecedes($1.labelValues) }
    }
}
