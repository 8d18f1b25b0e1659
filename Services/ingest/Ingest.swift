import Contracts
import JSON
import Service
import Store

/// The doors and the journal: takes calls, keeps what it accepts until others have it, and knows how it ended.
///
/// **Takes** HTTP requests, and from segmenter and token registry `taken`, `busy`, `settled`, `fact` and
/// `answer`.
/// **Emits** HTTP replies; `registration` and `command`, each kept until `taken`; `noted`; `query`, while a caller waits.
///
/// A message is accepted when the transaction that holds it has committed; only then does its caller hear so. What is
/// wrong is refused by name and leaves no trace. Starts, updates, ends and registrations are released in the order that
/// `Release` says; after a restart everything that is not taken is released again. Of what waits a limited part is in
/// memory, the rest is read from the journal in pages (`AtHand`). Channels are made and removed by APNs,
/// which a gateway asks (`Ingest+Channels.swift`); the journal keeps how each was made and what it is bound to.
///
/// **Limits** are in `IngestLimits`. Over them, or when the store fails, calls are answered 503.
/// **Weaknesses**: while the ledger has no room for an application, an update that stands behind a memory full of starts
/// and updates that do not fit waits with them, also if it would replace one that waits there. A channel whose maker hears nothing may exist all the same. Who ends an activity twice hears that it
/// has ended, also when the first answer was lost; a code is no
/// secret from who may call for its application.
struct Ingest: Core, Reloadable {
    static var service: ServiceName { .ingest }
    let windows = Windows()

    private(set) var access: Access
    let limits: IngestLimits
    /// How long a settled message can be asked about, in milliseconds.
    private var retentionMilliseconds: Int64
    var release = Release()
    var backlog: Backlog
    var atHand: AtHand
    var housekeeping = Housekeeping()
    var questions = Questions()
    var ledgerCheck = LedgerCheck()
    var isStarted = false
    /// The latest second that a message without a `timestamp` got as its order.
    var latestOrderSeconds: Int64 = 0
    private var hasMoreToSend = false
    /// nil if nobody wants to hear it.
    private var waitingWord: WaitingWord?

    /// Makes a core that has not started.
    ///
    /// - Parameters:
    ///   - configuration: whose applications it serves.
    ///   - limits: how much it takes and remembers.
    ///   - tellsWaiting: whether it says how much waits; for metrics.
    init(
        _ configuration: Configuration, limits: IngestLimits = IngestLimits(), tellsWaiting: Bool = false
    ) {
        access = Access(configuration.applications)
        retentionMilliseconds = configuration.retentionSeconds * 1_000
        self.limits = limits
        waitingWord = tellsWaiting ? WaitingWord() : nil
        backlog = Backlog(limits)
        atHand = AtHand(limits)
    }

    /// How many commands and registrations are accepted and not taken yet.
    var waiting: Int { backlog.total.commands + backlog.total.registrations }

    mutating func reload(_ configuration: Configuration) {
        access = Access(configuration.applications)
        retentionMilliseconds = configuration.retentionSeconds * 1_000
    }

    mutating func step(_ input: Input<IngestEvent>, at now: Moment, in store: inout Journal)
        throws(StoreError)
        -> [Effect<IngestOutput>]
    {
        switch input {
        case .started: return try start(store, at: now)
        case .external(.request(let call)): return try serve(call, at: now, in: store)
        case .external(.importing(let piece)): return try take(piece, at: now, in: store)
        case .external(.disk(let free, let size)):
            backlog.disk = (free, size)
            return []
        case .message(let message, let sender): return try take(message, from: sender, at: now, in: store)
        // Commands and registrations go to the next life, or to another instance, by themselves.
        case .lost: return []
        case .turn(let room): return try turn(room, at: now, in: store)
        }
    }

    func nextTurnMilliseconds(after now: Moment) -> Int64? {
        guard !hasMoreToSend, atHand.nextPage() == nil else { return 0 }
        let due = [
            release.nextRetryMilliseconds, housekeeping.nextMilliseconds, waitingWord?.nextMilliseconds,
            questions.nextMilliseconds, ledgerCheck.nextMilliseconds,
        ].compactMap { $0 }.min()
        return due.map { max(0, $0 - now.monotonic) }
    }

    /// Counts what a former life has left; turns read it.
    private mutating func start(_ journal: Journal, at now: Moment) throws(StoreError) -> [Effect<
        IngestOutput
    >] {
        for left in try journal.waitingCommandCounts() {
            backlog.add(commands: left.count, bytes: left.bytes, application: left.application)
            atHand.found(left.count, left.flow, of: left.application)
        }
        for left in try journal.waitingRegistrationCounts() {
            backlog.add(registrations: left.count, application: left.application)
            atHand.found(left.count, .registrations, of: left.application)
        }
        latestOrderSeconds = try journal.latestOrderSeconds()
        isStarted = true
        questions.start(at: now.wall)
        ledgerCheck.start(at: now.monotonic)
        return [
            .log(
                LogLine(
                    .info, "journal-read",
                    [
                        ("commands", "\(backlog.total.commands)"),
                        ("registrations", "\(backlog.total.registrations)"),
                    ]))
        ]
    }

    /// Lets a command stand in line.
    mutating func admit(_ head: MessageHead, bytes: Int) {
        backlog.add(bytes: bytes, application: head.application)
        if atHand.accepted(head.sequence, AtHand.Flow(head.kind), of: head.application) { release.add(head) }
    }

    /// Lets a group of registrations stand in line.
    mutating func admit(_ head: GroupHead) {
        backlog.add(registrations: head.count, application: head.application)
        if atHand.accepted(head.sequence, .registrations, of: head.application, count: head.count) {
            release.add(head)
        }
    }

    /// Lets a registration stand in line.
    mutating func admit(_ head: RegistrationHead) {
        backlog.add(registrations: 1, application: head.application)
        if atHand.accepted(head.sequence, .registrations, of: head.application) { release.add(head) }
    }

    /// Reads what there is room for in memory, up to a page.
    private mutating func readOn(in journal: Journal) throws(StoreError) {
        var left = limits.pageMax
        while left > 0, let page = atHand.nextPage() {
            let isRegistrations = page.flow == .registrations
            left -=
                try isRegistrations
                ? readRegistrations(page, in: journal) : readCommands(page, in: journal)
        }
    }

    private mutating func readCommands(_ page: AtHand.Page, in journal: Journal) throws(StoreError) -> Int {
        let found = try journal.waitingCommands(page)
        for (head, isCancelled) in found {
            release.add(head)
            if isCancelled { release.withhold(head.sequence) }
        }
        atHand.read(
            page, count: found.count, last: found.last?.head.sequence, isAll: found.count < page.countMax)
        return max(found.count, 1)
    }

    private mutating func readRegistrations(_ page: AtHand.Page, in journal: Journal) throws(StoreError)
        -> Int
    {
        let (found, isAll) = try journal.waitingRegistrations(page)
        var count = 0
        for piece in found {
            switch piece {
            case .single(let head):
                release.add(head)
                count += 1
            case .group(let head):
                release.add(head)
                count += head.count
            }
        }
        atHand.read(page, count: count, last: found.last?.sequence, isAll: isAll)
        return max(count, 1)
    }

    /// Sends what may go and has room, and tidies up.
    private mutating func turn(_ room: Room, at now: Moment, in journal: Journal) throws(StoreError)
        -> [Effect<IngestOutput>]
    {
        release.wake(nowMilliseconds: now.monotonic)
        try readOn(in: journal)
        var room = room
        let (work, isMore) = release.ready.take(&room)
        hasMoreToSend = isMore
        var effects = lateReplies(at: now)
        for (piece, service) in work {
            release.sent(piece)
            guard let message = try message(piece, in: journal) else { continue }
            effects.append(.send(message, to: .service(service)))
        }
        try housekeeping.turn(
            at: now, limits, retentionMilliseconds: retentionMilliseconds, in: journal)
        effects += try checkLedger(at: now, in: journal)
        if let held = waitingWord?.say(backlog.total, nowMilliseconds: now.monotonic) {
            effects.append(.perform(.waiting(held)))
        }
        return effects
    }

    /// The content of a piece of work; nil if it was taken meanwhile.
    private func message(_ work: Release.Work, in journal: Journal) throws(StoreError) -> Message? {
        guard release.maySend(work) else { return nil }
        switch work {
        case .command(let sequence): return try journal.command(sequence).map(Message.command)
        case .registration(let sequence, _):
            return try journal.registration(sequence).map(Message.registration)
        case .group(let sequence, let service):
            return try journal.group(sequence)?.restricted(to: service).map(Message.registrations)
        }
    }
}
