import Testing

@testable import Telemetry

@Suite struct MetricsTests {
    private let metrics = Metrics()

    /// The lines of the exposition, each of which has to be valid.
    private func lines() throws -> [ExpositionLine] {
        let text = metrics.exposition()
        #expect(text.hasSuffix("\n"))
        // By scalars: a carriage return before a line feed would hide it from a split by characters.
        return try text.unicodeScalars.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map
        {
            try #require(ExpositionLine(String($0)), "not valid: \($0)")
        }
    }

    @Test func `metrics, series and labels are sorted`() throws {
        let pushes = metrics.counter(
            "liveline_pushes_total", help: "Pushes.", labels: ["outcome", "environment"])
        metrics.gauge("liveline_backlog_rows", help: "Rows that wait.").set(7)
        pushes.add(2, ["failed", "sandbox"])
        pushes.add(1, ["delivered", "sandbox"])
        pushes.add(40, ["delivered", "production"])
        #expect(
            metrics.exposition() == """
                # HELP liveline_backlog_rows Rows that wait.
                # TYPE liveline_backlog_rows gauge
                liveline_backlog_rows 7
                # HELP liveline_pushes_total Pushes.
                # TYPE liveline_pushes_total counter
                liveline_pushes_total{environment="production",outcome="delivered"} 40
                liveline_pushes_total{environment="sandbox",outcome="delivered"} 1
                liveline_pushes_total{environment="sandbox",outcome="failed"} 2

                """)
        #expect(try lines().count == 8)
    }

    @Test(arguments: ["a\\b", "say \"x\"", "two\nlines", "\\n", "\r\n", "", "é👨,}= \"} 9", "\\"])
    func `a label value comes back from its escaped form`(value: String) throws {
        metrics.counter("c_total", help: "Back\\slash, \"quotes\"\nand\r\na second line", labels: ["b", "a"])
            .add(3, [value, "z"])
        let all = try lines()
        #expect(
            all == [
                .help(name: "c_total", text: #"Back\\slash, "quotes"\nand"# + "\r" + #"\na second line"#),
                .type(name: "c_total", kind: "counter"),
                .sample(name: "c_total", labels: [["a", "z"], ["b", value]], value: 3),
            ])
    }

    @Test(
        arguments: [
            (0, "0"), (-3, "-3"), (0.25, "0.25"), (1e15, "1000000000000000"), (1e300, "1e+300"),
            (.infinity, "+Inf"),
            (-.infinity, "-Inf"), (.nan, "NaN"),
        ] as [(Double, String)])
    func `a gauge shows any value`(value: Double, expected: String) throws {
        metrics.gauge("g", help: "Gauge.").set(value)
        #expect(metrics.exposition().hasSuffix("\ng \(expected)\n"))
        #expect(try lines().count == 3)
    }

    @Test func `a metric registered again is the same one`() {
        metrics.counter("c_total", help: "Count.", labels: ["kind"]).add(1, ["x"])
        let again = metrics.counter("c_total", help: "Count.", labels: ["kind"])
        again.series(["x"]).add(4)
        #expect(again.value(["x"]) == 5)
        let gauge = metrics.gauge("g", help: "Gauge.")
        gauge.add(2)
        gauge.add(-0.5)
        #expect(gauge.value() == 1.5)
    }

    @Test func `a metric without labels shows 0 at once, one with labels has no sample yet`() {
        _ = metrics.counter("a_total", help: "A.")
        _ = metrics.counter("b_total", help: "B.", labels: ["x"])
        #expect(metrics.exposition().split(separator: "\n").filter { !$0.hasPrefix("#") } == ["a_total 0"])
    }

    @Test func `series over the limit are counted together`() {
        let counter = metrics.counter("c_total", help: "Count.", labels: ["peer"])
        for number in 0..<Metrics.seriesMax + 50 { counter.add(1, ["p\(number)"]) }
        #expect(counter.value([Metrics.overflowLabel]) == 50)
        #expect(counter.value(["p3"]) == 1)
        #expect(metrics.exposition().split(separator: "\n").count == 2 + Metrics.seriesMax + 1)
    }

    @Test func `additions from several tasks are all counted`() async {
        let series = metrics.counter("c_total", help: "Count.").series()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<1_000 { series.add() } } }
        }
        #expect(series.value == 4_000)
    }

    @Test(arguments: [
        ("liveline_x", true, true), ("a:b", true, false), ("_a9", true, true), ("9a", false, false),
        ("", false, false),
        ("a-b", false, false), ("é", false, false), ("__name__", true, false),
    ])
    func `names follow the data model`(name: String, isMetric: Bool, isLabel: Bool) {
        #expect(isMetricName(name) == isMetric)
        #expect(isLabelName(name) == isLabel)
    }
}
