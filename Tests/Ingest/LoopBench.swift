import Bus
import Contracts
import Store
import Telemetry
import Testing

@testable import Service
@testable import ingest

/// The whole process but for its main: loop, bus, doors and journal, with nobody behind it.
final class LoopBench {
    let loop: ServiceLoop<Ingest, IngestAdapter>
    let log = LogCollector()
    var configuration = Bench.configuration()

    init(directory: String, _ change: (inout Configuration) -> Void = { _ in }) throws {
        configuration.http.listen = "127.0.0.1:0"
        configuration.runDirectory = directory
        configuration.dataDirectory = directory
        change(&configuration)
        let instance = InstanceName(.ingest)
        let context = ServiceContext(
            configuration: configuration, instance: instance, epoch: 1,
            logger: Logger(service: "ingest", sink: log.sink))
        var limits = LoopLimits()
        limits.youngTickMilliseconds = 5
        limits.youngTicks = .max
        limits.retryMillisecondsMin = 10
        loop = ServiceLoop(
            context: context, store: try Journal(.memory, freshSecret: [UInt8](0..<32)),
            adapter: try IngestAdapter(context),
            bus: try Bus(BusEndpoint(runDirectory: directory, instance: instance)), limits: limits,
            makeCore: { Ingest($0.configuration) })
    }

    var port: UInt16 { loop.adapter.port ?? 0 }

    /// Goes round until the condition holds; each turn callers take in what has come.
    func run(_ callers: [RawCaller], until condition: () -> Bool) throws {
        for _ in 0..<4_000 {
            try loop.round()
            for caller in callers { caller.read() }
            if condition() { return }
        }
        Issue.record("it does not come to it: \(callers.map(\.received))")
    }

    func count(_ table: String) throws -> Int64? {
        try loop.store.database.first(SQL("SELECT count(*) FROM \(table)")) { $0.int(0) }
    }

    /// A call of the Pushwoosh door as it stands on the wire.
    static func call(_ method: String, _ notification: String) -> String {
        let body = """
            {"request":{"application":"AAAAA-00001","auth":"k-test","notifications":[\(notification)]}}
            """
        return
            "POST /json/1.3/\(method) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func start(_ activity: String) -> String {
        call(
            "startLiveActivity",
            """
            {"live_activity_id":"\(activity)","devices":["phone-1"],"content":"Cooking","live_activity":\
            {"attributes-type":"Order","attributes":{},"content-state":{"step":1}}}
            """)
    }
}
