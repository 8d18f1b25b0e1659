import Contracts
import Service
import Store

/// Asks the ledger, page by page, whether it still holds what it has taken and what is not settled.
///
/// It does, unless its store was removed or replaced by an older copy. What it does not hold is *lost*: the journal let go
/// of its push when the ledger had taken it. Without this, such a message would look as if it were still under way.
struct LedgerCheck {
    /// How many messages one question names.
    static let pageMax = 500
    /// How long between two questions of a pass, in milliseconds.
    static let stepMilliseconds: Int64 = 200
    /// How long between two passes, and until a question without an answer is put again, in milliseconds.
    static let passMilliseconds: Int64 = 60_000

    /// Messages of one application, in the order of their sequence.
    struct Page: Equatable {
        var application: String
        var messages: [Int64]
    }

    /// When the next question is due, on the monotonic clock; nil before the start.
    private(set) var nextMilliseconds: Int64?
    private var last: Page?
    private var asked: (question: Int64, page: Page)?

    /// Begins a life.
    mutating func start(at now: Int64) { nextMilliseconds = now + LedgerCheck.passMilliseconds }

    /// The next messages to ask about, if a question is due; an empty page ends the pass.
    mutating func nextPage(at now: Int64, in journal: Journal) throws(StoreError) -> Page? {
        guard let next = nextMilliseconds, next <= now else { return nil }
        nextMilliseconds = now + LedgerCheck.passMilliseconds
        let page = try journal.open(behind: last, limit: LedgerCheck.pageMax)
        if page == nil { last = nil }
        return page
    }

    /// Notes that a page was asked about.
    mutating func ask(_ question: Int64, _ page: Page) { asked = (question, page) }

    /// The page that an answer is about, once; the pass goes on behind it.
    mutating func answered(_ question: Int64, at now: Int64) -> Page? {
        guard let asked, asked.question == question else { return nil }
        self.asked = nil
        last = asked.page
        nextMilliseconds = now + LedgerCheck.stepMilliseconds
        return asked.page
    }
}

extension Ingest {
    /// Puts the next question to the ledger if it is due.
    mutating func checkLedger(at now: Moment, in journal: Journal) throws(StoreError) -> [Effect<
        IngestOutput
    >] {
        guard let page = try ledgerCheck.nextPage(at: now.monotonic, in: journal) else { return [] }
        let number = questions.nextNumber()
        ledgerCheck.ask(number, page)
        let query = Query(id: number, application: page.application, kind: .missing(messages: page.messages))
        return [.send(.query(query), to: .service(.tokenRegistry))]
    }

    /// Takes the ledger's word for what it does not hold; nil if nobody has asked.
    mutating func takeMissing(_ answer: Answer, at now: Moment, in journal: Journal) throws(StoreError)
        -> [Effect<IngestOutput>]?
    {
        guard case .missing(let messages) = answer.content,
            let page = ledgerCheck.answered(answer.id, at: now.monotonic)
        else { return nil }
        var lost = 0
        for message in Set(messages).intersection(page.messages).sorted() {
            if try journal.markLost(message, atMilliseconds: now.wall) { lost += 1 }
        }
        guard lost > 0 else { return [] }
        return [
            .count(Count("lost", by: lost)),
            .log(
                LogLine(
                    .warning, "messages-lost",
                    [
                        ("application", page.application), ("messages", "\(lost)"),
                        ("reason", "the ledger that had taken them was removed or replaced by an older copy"),
                    ])),
        ]
    }
}

extension Journal {
    /// The first messages behind a page that are taken and not settled, all of one application; nil if there is none.
    func open(behind page: LedgerCheck.Page?, limit: Int) throws(StoreError) -> LedgerCheck.Page? {
        let rows = try database.all(
            """
            SELECT application, sequence FROM messages
            WHERE takenAt IS NOT NULL AND settledAt IS NULL AND (application, sequence) > (?, ?)
            ORDER BY application, sequence LIMIT ?
            """, .text(page?.application ?? ""), .int(page?.messages.last ?? .min), .int(Int64(limit))
        ) { (application: $0.text(0), message: $0.int(1)) }
        guard let application = rows.first?.application else { return nil }
        return LedgerCheck.Page(
            application: application,
            messages: rows.prefix { $0.application == application }.map(\.message))
    }

    /// Notes that nobody holds a message any more.
    ///
    /// It is settled without a revision, so that any word of the ledger about it still holds. A start of which nobody has
    /// registered a token may be made again.
    ///
    /// - Returns: whether it was taken and not settled.
    func markLost(_ message: Int64, atMilliseconds now: Int64) throws(StoreError) -> Bool {
        guard let status = try status(message), status.state == .taken else { return false }
        try database.run("UPDATE messages SET settledAt = ? WHERE sequence = ?", .int(now), .int(message))
        switch status.head.kind {
        case .end: try markEndSettled(status.head.run, by: message)
        case .start:
            try database.run(
                "UPDATE runs SET emptyBy = 0 WHERE run = ? AND emptyBy IS NULL AND firstTokenAt IS NULL",
                .int(status.head.run))
        case .update, .cancel, .pause, .resume: break
        }
        return true
    }
}
