import Contracts
import JSON
import Service
import Store

extension Ingest {
    /// The most codes of one call of `messages:list`.
    static let listedMax = 1_000

    /// Serves `POST /api/v2/messages:list`: the messages behind some codes; codes of no message are left out.
    ///
    /// Pushwoosh, Messages API v2: the token stands in the `Authorization` header.
    func listMessages(_ call: HTTPCall, in journal: Journal) throws(StoreError) -> Result<Served, Refusal> {
        if let refusal = Ingest.refusal(of: call, method: "POST") { return .failure(refusal) }
        switch refusable({ () throws(Refusal) in try listed(call) }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let wanted):
            var found: [(code: String, status: MessageStatus)] = []
            for code in wanted.codes {
                guard let sequence = journal.codes.sequence(code), let status = try journal.status(sequence),
                    wanted.applications.contains(status.head.application), status.head.kind.isPush
                else { continue }
                found.append((journal.codes.code(sequence), status))
            }
            let body = JSONWriter.object { answer in
                answer.array("items") { items in
                    for (code, status) in found {
                        items.object { status.write(code, withMetrics: wanted.withMetrics, to: &$0) }
                    }
                }
                answer.member("total", found.count)
            }
            return .success(Served(reply: HTTPReply(call, 200, json: body)))
        }
    }

    private struct Listed {
        var applications: [String]
        var codes: [String]
        var withMetrics: Bool
    }

    private func listed(_ call: HTTPCall) throws(Refusal) -> Listed {
        let admitted = try access.bearer(call, anyScheme: true).map(\.code)
        let members = try ObjectReader(body: call.body)
        let filters = try ObjectReader(try members.required("filters"))
        try filters.refuseUnknown(known: ["application", "messages_codes"])
        let application = try filters.optionalString("application")
        guard application.map({ admitted.contains($0) }) ?? true else {
            throw filters.wrong("application", "not found", label: "application")
        }
        let params = try members.lenient("params").map { value throws(Refusal) in try ObjectReader(value) }
        return Listed(
            applications: application.map { [$0] } ?? admitted, codes: try codes(filters),
            withMetrics: params?.value["with_metrics"]?.bool ?? false)
    }

    private func codes(_ filters: ObjectReader) throws(Refusal) -> [String] {
        let value = try filters.required("messages_codes")
        guard let elements = value.elements else { throw ObjectReader.wrong(value, "must be an array") }
        guard (1...Ingest.listedMax).contains(elements.count) else {
            throw ObjectReader.wrong(value, "must have 1 to \(Ingest.listedMax) elements", label: "value")
        }
        var codes: [String] = []
        for element in elements {
            let code = try Texts.text(element)
            if !codes.contains(code) { codes.append(code) }
        }
        return codes
    }
}

extension Command.Kind {
    /// Whether something goes to phones.
    var isPush: Bool {
        switch self {
        case .start, .update, .end: true
        case .cancel, .pause, .resume: false
        }
    }
}

extension MessageStatus {
    /// Writes the message as `messages:list` shows it.
    fileprivate func write(_ code: String, withMetrics: Bool, to item: inout JSONWriter) {
        let day = CalendarDay.text(ofSeconds: head.acceptedAtMilliseconds / 1_000)
        let second = CalendarDay.time(ofSeconds: head.acceptedAtMilliseconds / 1_000)
        item.member("code", code)
        item.member("created_date", "\(day) \(second)")
        item.member("send_date", "\(day) \(second)")
        item.member("status", settledAtMilliseconds == nil ? "processing" : "done")
        item.member("platforms", ["IOS"])
        guard withMetrics else { return }
        item.array("metrics") { metrics in
            metrics.object { metric in
                metric.member("platform", "IOS")
                metric.member("sends", counts.delivered)
                metric.member("errors", counts.failed + counts.unreachable + counts.expired)
            }
        }
    }
}
