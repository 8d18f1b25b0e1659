extension Metrics {
    /// What an HTTP answer with ``exposition()`` says of itself.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// All metrics as text for Prometheus, in the order of their names, series and labels.
    ///
    /// Prometheus, Exposition formats, text-based format 0.0.4.
    public func exposition() -> String {
        sortedFamilies.map(\.exposition).joined()
    }
}

extension MetricFamily {
    fileprivate var exposition: String {
        let head = "# HELP \(name) \(escapedHelp)\n# TYPE \(name) \(kind.rawValue)\n"
        return sorted().reduce(into: head) { text, series in
            text += "\(name)\(labelSet(series.labelValues)) \(sample(series.value))\n"
        }
    }

    /// In help texts a double quote stays as it is.
    private var escapedHelp: String { escaped(help, quote: "\"") }

    private func labelSet(_ values: [String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = zip(labels, values).sorted { $0.0 < $1.0 }
        return "{" + pairs.map { "\($0.0)=\"\(escaped($0.1, quote: "\\\""))\"" }.joined(separator: ",") + "}"
    }

    private func escaped(_ text: String, quote: String) -> String {
        // By scalars: as a Character a carriage return and a line feed are one, and neither would be found.
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"": result += quote
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    private func sample(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: value).map { String($0) } ?? "\(value)"
    }
}
