import Contracts
import JSON
import Service
import Store

extension Ingest {
    /// Serves `POST /api/v2/messages:list`: the messages behind some codes; codes of no message are left out.
    ///
    /// Pushwoosh, Message statistics: the token stands in the `Authorization` header.
    func listMessages(_ call: HTTPCall, in journal: Journal) throws(StoreError) -> Result<Served, Refusal> {
        let wanted: MessageList
        switch refusable({ () throws(Refusal) in try listed(call) }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let list): wanted = list
        }
        var found: [(code: String, status: MessageStatus)] = []
        for code in wanted.codes {
            guard let sequence = journal.codes.sequence(code), let status = try journal.status(sequence),
                wanted.holds(status)
            else { continue }
            found.append((journal.codes.code(sequence), status))
        }
        let body = JSONWriter.object { answer in
            answer.array("items") { items in
                for (code, status) in found[wanted.page(of: found.count)] {
                    items.object { status.write(code, wanted, to: &$0) }
                }
            }
            answer.member("total", found.count)
        }
        return .success(Served(reply: HTTPReply(call, 200, json: body)))
    }

    private func listed(_ call: HTTPCall) throws(Refusal) -> MessageList {
        let admitted = try access.bearer(call, anyScheme: true).map(\.code)
        let root = try ObjectReader(body: call.body)
        // One revision of the document puts everything into a `request`.
        let members =
            try root.lenient("request").map { value throws(Refusal) in try ObjectReader(value) } ?? root
        var list = try MessageList(members)
        if let application = list.application, !admitted.contains(application) {
            throw Refusal("filters.application", "not found", label: "application")
        }
        list.applications = list.application.map { [$0] } ?? admitted
        return list
    }
}

/// What a call of `messages:list` asks for.
struct MessageList {
    /// The most codes of one call, and the most messages of one page.
    static let countMax = 1_000
    /// Where all of Liveline's messages come from, and where they go to.
    private static let source = "API"
    private static let platform = "IOS"

    /// The applications whose messages may be shown.
    var applications: [String] = []
    let application: String?
    let codes: [String]
    let withMetrics: Bool
    let withDetails: Bool
    private let days: ClosedRange<String>
    private let isForUs: Bool
    private let pageNumber: Int
    private let pageSize: Int

    init(_ members: ObjectReader) throws(Refusal) {
        let filters = try ObjectReader(try members.required("filters"))
        try filters.refuseUnknown(known: [
            "application", "messages_codes", "date_range", "source", "platforms",
        ])
        application = try filters.lenientText("application")
        codes = try MessageList.texts(
            try filters.required("messages_codes"), counts: 1...MessageList.countMax)
        days = try MessageList.days(filters)
        let source = try filters.lenientText("source") ?? MessageList.source
        let platforms = try filters.lenient("platforms").map { value throws(Refusal) in
            try MessageList.texts(value, counts: 0...MessageList.countMax)
        }
        isForUs =
            source == MessageList.source
            && (platforms.map { $0.isEmpty || $0.contains(MessageList.platform) } ?? true)
        let params = try members.lenient("params").map { value throws(Refusal) in try ObjectReader(value) }
        withMetrics = try params?.truth("with_metrics") ?? false
        withDetails = try params?.truth("with_details") ?? false
        pageSize =
            try MessageList.number(members, "per_page", 1...MessageList.countMax) ?? MessageList.countMax
        pageNumber = try MessageList.number(members, "page", 1...MessageList.countMax) ?? 1
    }

    /// Whether a message is among those asked for.
    func holds(_ status: MessageStatus) -> Bool {
        let day = CalendarDay.text(ofSeconds: status.head.acceptedAtMilliseconds / 1_000)
        return isForUs && applications.contains(status.head.application) && status.head.kind.isPush
            && days.contains(day)
    }

    /// The places of the page asked for among so many.
    func page(of count: Int) -> Range<Int> {
        let start = min((pageNumber - 1) * pageSize, count)
        return start..<min(start + pageSize, count)
    }

    private static func texts(_ value: JSONValue, counts: ClosedRange<Int>) throws(Refusal) -> [String] {
        guard let elements = value.elements else { throw ObjectReader.wrong(value, "must be an array") }
        guard counts.contains(elements.count) else {
            throw ObjectReader.wrong(
                value, "must have \(counts.lowerBound) to \(counts.upperBound) elements", label: "value")
        }
        var texts: [String] = []
        var seen: Set<String> = []
        for element in elements {
            let text = try Texts.text(element)
            if seen.insert(text).inserted { texts.append(text) }
        }
        return texts
    }

    /// The days of `date_range`, first and last included; days compare as texts.
    private static func days(_ filters: ObjectReader) throws(Refusal) -> ClosedRange<String> {
        guard let value = filters.lenient("date_range") else { return "0000-01-01"..."9999-12-31" }
        let range = try ObjectReader(value)
        try range.refuseUnknown(known: ["date_from", "date_to"])
        let first = try day(range, "date_from")
        let last = try day(range, "date_to")
        guard first <= last else { throw range.wrong("date_to", "must not lie before date_from") }
        return first...last
    }

    private static func day(_ range: ObjectReader, _ member: String) throws(Refusal) -> String {
        let text = try range.requiredText(member)
        guard CalendarDay.isWellFormed(text) else { throw range.wrong(member, "must be a date, YYYY-MM-DD") }
        return text
    }

    private static func number(_ members: ObjectReader, _ member: String, _ range: ClosedRange<Int>)
        throws(Refusal) -> Int?
    {
        guard let value = members.lenient(member) else { return nil }
        guard let number = value.int64.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw members.wrong(member, "must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension ObjectReader {
    /// `true` or `false`, if it is there.
    func truth(_ member: String) throws(Refusal) -> Bool? {
        guard let value = lenient(member) else { return nil }
        guard let truth = value.bool else { throw wrong(member, "must be true or false", label: "type") }
        return truth
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
    fileprivate func write(_ code: String, _ list: MessageList, to item: inout JSONWriter) {
        let day = CalendarDay.text(ofSeconds: head.acceptedAtMilliseconds / 1_000)
        let second = CalendarDay.time(ofSeconds: head.acceptedAtMilliseconds / 1_000)
        item.member("code", code)
        item.member("created_date", "\(day) \(second)")
        item.member("send_date", "\(day) \(second)")
        item.member("status", settledAtMilliseconds == nil ? "processing" : "done")
        item.member("platforms", ["IOS"])
        item.member("source", "API")
        if list.withDetails {
            item.object("push_info") { info in
                info.object("details") { details in
                    details.member("event", head.kind.rawValue)
                    if head.activity.space == .id { details.member("live_activity_id", head.activity.name) }
                }
            }
        }
        guard list.withMetrics else { return }
        item.array("metrics") { metrics in
            metrics.object { metric in
                metric.member("platform", "IOS")
                metric.member("sends", counts.delivered)
                // Of what is lost is known that it is an error, not of how many deliveries.
                let lost = state == .lost ? 1 : 0
                metric.member("errors", counts.failed + counts.unreachable + counts.expired + lost)
            }
        }
    }
}
