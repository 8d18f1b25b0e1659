/// What a service's `/metrics` said (Prometheus, Exposition formats, text-based format 0.0.4).
struct MetricsText: Sendable, Equatable {
    /// One sample.
    struct Sample: Sendable, Equatable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    let samples: [Sample]

    /// Reads the text; lines that are no samples are passed over.
    init(_ text: String) {
        samples = text.split(separator: "\n").compactMap(Self.sample)
    }

    /// The sum of all samples of a name whose labels have these values; nil if there are none.
    func sum(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let found = samples.filter { sample in
            sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }
        return found.isEmpty ? nil : found.reduce(0) { $0 + $1.value }
    }

    private static func sample(_ line: Substring) -> Sample? {
        guard !line.hasPrefix("#"), let space = line.lastIndex(of: " ") else { return nil }
        guard let value = Double(line[line.index(after: space)...]) else { return nil }
        let series = line[..<space]
        guard let brace = series.firstIndex(of: "{") else {
            return Sample(name: String(series), labels: [:], value: value)
        }
        let labels = labels(series[series.index(after: brace)...].dropLast())
        return Sample(name: String(series[..<brace]), labels: labels, value: value)
    }

    private static func labels(_ text: Substring) -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].drop { $0 == "," || $0 == " " }
            rest = rest[equals...].dropFirst(2)
            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\" else {
                    value.append(character)
                    continue
                }
                if let escaped = rest.popFirst() { value.append(escaped == "n" ? "\n" : escaped) }
            }
            labels[String(name)] = value
        }
        return labels
    }
}
