/// A number that only grows.
public struct Counter: Sendable {
    let family: MetricFamily

    /// Adds to the series with these label values, given in the order in which the labels were registered.
    public func add(_ amount: Int = 1, _ labelValues: [String] = []) {
        series(labelValues).add(amount)
    }

    /// The series with these label values, to be kept where the counting is frequent: adding to it looks nothing up.
    ///
    /// It shows as 0 from then on.
    public func series(_ labelValues: [String] = []) -> CounterSeries {
        CounterSeries(family: family, index: family.index(of: labelValues))
    }

    /// What the series with these label values has come to.
    public func value(_ labelValues: [String] = []) -> Int { series(labelValues).value }
}

/// One series of a ``Counter``.
public struct CounterSeries: Sendable {
    let family: MetricFamily
    let index: Int

    /// Adds to the series.
    public func add(_ amount: Int = 1) {
        precondition(amount >= 0, "a counter never goes down")
        family.add(Double(amount), at: index)
    }

    /// What it has come to.
    public var value: Int { Int(exactly: family.value(at: index)) ?? .max }
}

/// A number that goes up and down.
public struct Gauge: Sendable {
    let family: MetricFamily

    /// Sets the series with these label values, given in the order in which the labels were registered.
    public func set(_ value: Double, _ labelValues: [String] = []) {
        family.set(value, at: family.index(of: labelValues))
    }

    /// Sets it to a whole number.
    public func set(_ value: Int, _ labelValues: [String] = []) {
        set(Double(value), labelValues)
    }

    /// Adds to it; a negative amount takes away.
    public func add(_ amount: Double, _ labelValues: [String] = []) {
        family.add(amount, at: family.index(of: labelValues))
    }

    /// What the series with these label values stands at.
    public func value(_ labelValues: [String] = []) -> Double {
        family.value(at: family.index(of: labelValues))
    }
}
