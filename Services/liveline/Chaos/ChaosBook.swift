/// What servers said, what the door accepted, what phones got and how messages were settled: the promises of the
/// README's state table, checked message by message and phone by phone.
///
/// **Takes** calls and their answers, arrivals at APNs and the door's word about each message; **gives** breaches. It
/// does no input or output and reads no clock: times are milliseconds since 1970. An activity is forgotten once it has
/// ended and all of its messages are judged, so that what it holds does not grow with the length of a run.
///
/// - An older state never reaches a phone after a newer one.
/// - A state reaches a phone twice only where nobody could know of the first time: the gateway ended before the
///   registry had its report (once for each such end), or APNs' answer was lost on its way.
/// - A token to which APNs has answered 410 is not pushed to again, with the same exception. A token whose registration
///   was under way when it died counts as registered anew.
/// - Two updates reach a phone no closer than the interval, however often services end in between. What counts is what
///   the registry can know: an update whose answer ended with its gateway, or was lost, may be followed at once.
/// - Every accepted message is settled, with one delivery for each phone: delivered where APNs told a gateway 200 that
///   did not end with it, and only where APNs has had it. Where tokens change, a delivery may fail and be made good when
///   the phone is back, and how many there are is not looked at; nor is it once the activity's end is accepted, as what
///   the registry hears of only after it finds nobody. Where an activity was dismissed, an update may be refused.
/// - Every phone that had the start of an activity gets its end: before that is settled, or, where its token has changed,
///   when it is back.
struct ChaosBook {
    enum Kind: String, Sendable { case start, update, end }

    /// A state as it reached a phone.
    struct Reach: Equatable, Sendable {
        var step: Int
        var apnsID: String
        var arrived: Int64
        var answered: Int64
        /// When the first push came on its connection.
        var connectedAt: Int64
        /// Whether APNs answered 200 or 410.
        var isTold: Bool
    }

    struct Message: Sendable {
        var kind: Kind
        var code: String?
        /// Its first time on each phone.
        var reaches: [Reach] = []
    }

    /// An activity on one phone.
    struct Place: Sendable {
        let hardwareID: String
        var isStarted = false
        var last: Reach?
        /// The newest update of which APNs has told a gateway that it took it, as it first came.
        var paced: Reach?
    }

    struct Activity: Sendable {
        let name: String
        /// Its phones; the last place is the channel, if it is bound to one.
        var places: [Place]
        let isBroadcast: Bool
        /// Messages that are not judged yet, by their steps.
        var open: [Int: Message] = [:]
        var steps = 0
        var newestAccepted: Int?
        var endAccepted = false
        /// Whether tokens of its phone have changed, or the person dismissed it.
        var hasStrayed = false
        var isDismissed = false
        /// Whether a token died while its registration was under way.
        var isRegisteredLate = false

        /// How many deliveries a message of it has.
        func deliveries(_ kind: Kind) -> Int {
            guard isBroadcast else { return places.count }
            return kind == .start ? places.count - 1 : 1
        }

        /// Whether everything about it is known.
        var isOver: Bool { endAccepted && open.isEmpty }

        /// Its phones that had its start and have not had a state as new as this step.
        func waiting(for step: Int) -> [String] {
            places.filter { $0.isStarted && ($0.last?.step ?? 0) < step }.map(\.hardwareID)
        }
    }

    /// The end of an activity that is forgotten, and its phones that had not had it by then.
    struct LateEnd: Sendable {
        let step: Int
        let name: String
        /// Whether the person dismissed it: the phone has no token for it then.
        let isDismissed: Bool
        let hardwareIDs: [String]
        var reached: Set<String> = []

        /// Who still has to get it.
        var missing: [String] { isDismissed ? [] : hardwareIDs.filter { !reached.contains($0) } }
    }

    /// A push that came again or too soon, or a 410 after a 410: whether somebody must have known is told in the end.
    private struct Suspicion {
        var former: Reach
        var again: Int64
        var text: String
        var isRepeat = true
    }

    /// How far apart two updates come to a phone at least, ms.
    let intervalMilliseconds: Int64
    var timeline = ChaosTimeline()
    private(set) var activities: [Int: Activity] = [:]
    private(set) var breaches: [String] = []
    private(set) var breachCount = 0
    var tally = ChaosTally()
    /// Phones that have not had the end of an activity that is forgotten, where tokens have changed: it is settled, but one
    /// that comes back with a new token still gets it.
    private(set) var lateEnds: [Int: LateEnd] = [:]
    /// The last 410 about each token.
    private var deaths: [String: Reach] = [:]
    private var suspicions: [Suspicion] = []
    private var connections: [Int: Int64] = [:]
    /// When each push that reached a phone was answered.
    private var answers: [Int64] = []
    private var begun = 0

    /// How many breaches are kept with their words.
    static let breachesMax = 20
    /// How much later than it was sent a push may come, ms: the interval is from one sending to the next, and the
    /// simulator may have to wait for a processor.
    static let lateMilliseconds: Int64 = 1_000

    /// - Parameter intervalMilliseconds: how far apart two updates come to a phone at least.
    init(intervalMilliseconds: Int64 = 0) { self.intervalMilliseconds = intervalMilliseconds }

    /// Notes something that must not be.
    mutating func breach(_ text: String) {
        breachCount += 1
        if breaches.count < Self.breachesMax { breaches.append(text) }
    }

    // MARK: Calls

    /// Begins an activity, which may be bound to a channel.
    ///
    /// - Returns: its serial number.
    mutating func begin(name: (Int) -> String, hardwareIDs: [String], channel: String? = nil) -> Int {
        let places = hardwareIDs + (channel.map { [ArrivalFeed.place(ofChannel: $0)] } ?? [])
        activities[begun] = Activity(
            name: name(begun), places: places.map { Place(hardwareID: $0) }, isBroadcast: channel != nil)
        begun += 1
        return begun - 1
    }

    /// A call goes out for the first time.
    mutating func send(_ kind: Kind, serial: Int) -> ChaosNumber {
        let step = activities[serial]?.steps ?? 0
        activities[serial]?.steps += 1
        activities[serial]?.open[step] = Message(kind: kind)
        tally.sent += 1
        return ChaosNumber(serial: serial, step: step)
    }

    mutating func accepted(_ number: ChaosNumber, code: String) {
        tally.accepted += 1
        let isEnd = activities[number.serial]?.open[number.step]?.kind == .end
        activities[number.serial]?.open[number.step]?.code = code
        activities[number.serial]?.newestAccepted = number.step
        if isEnd { activities[number.serial]?.endAccepted = true }
    }

    /// The door says no, which it may only where the activity was dismissed.
    mutating func refused(_ number: ChaosNumber, _ reason: String) {
        tally.refused += 1
        guard let activity = activities[number.serial] else { return }
        if !activity.isDismissed || number.step == 0 {
            breach("refused: \(name(number)): \(reason)")
        }
        forget(number)
    }

    /// No answer has come in all the time there was.
    mutating func unanswered(_ number: ChaosNumber) { breach("never answered: \(name(number))") }

    /// A token of the activity's phone changes, or the activity is dismissed.
    mutating func strays(_ serial: Int, isDismissed: Bool = false) {
        activities[serial]?.hasStrayed = true
        if isDismissed { activities[serial]?.isDismissed = true }
    }

    /// Whether a registration of the former token was under way when it died.
    mutating func tokenDied(_ serial: Int, whileRegistering isLate: Bool) {
        if isLate { activities[serial]?.isRegisteredLate = true }
    }

    mutating func forget(_ number: ChaosNumber) {
        activities[number.serial]?.open[number.step] = nil
        guard let activity = activities[number.serial], activity.isOver else { return }
        activities[number.serial] = nil
        guard activity.hasStrayed, let end = activity.newestAccepted else { return }
        let missed = activity.waiting(for: end)
        guard !missed.isEmpty else { return }
        lateEnds[number.serial] = LateEnd(
            step: end, name: activity.name, isDismissed: activity.isDismissed, hardwareIDs: missed)
    }

    /// Takes the end that a phone with a new token gets though it is settled.
    ///
    /// - Returns: false if it is something else.
    private mutating func isLateEnd(_ number: ChaosNumber, _ hardwareID: String) -> Bool {
        guard let late = lateEnds[number.serial], late.step == number.step,
            late.hardwareIDs.contains(hardwareID)
        else { return false }
        lateEnds[number.serial]?.reached.insert(hardwareID)
        return true
    }

    /// Gives up an activity that the door does not know any more: nothing more is sent for it.
    mutating func abandon(_ serial: Int) {
        activities[serial]?.endAccepted = true
        if activities[serial]?.isOver == true { activities[serial] = nil }
    }

    func name(_ number: ChaosNumber) -> String {
        let activity = activities[number.serial]
        let kind = activity?.open[number.step]?.kind.rawValue ?? "state"
        let code = activity?.open[number.step]?.code.map { " (\($0))" } ?? ""
        return "\(kind) \(number.step) of \(activity?.name ?? "activity \(number.serial)")\(code)"
    }
}

// MARK: - Arrivals

extension ChaosBook {
    /// Takes a push that came to APNs.
    mutating func take(_ arrival: ArrivalFeed.Arrival) {
        var number = ChaosNumber(packed: arrival.number)
        // A start for a phone that is to listen carries the newest state that the channel has.
        if arrival.event == "start", activities[number.serial]?.isBroadcast == true { number.step = 0 }
        let arrived = arrival.atMicroseconds / 1_000
        let connectedAt = connections[arrival.connection] ?? arrived
        connections[arrival.connection] = connectedAt
        let reach = Reach(
            step: number.step, apnsID: arrival.apnsID, arrived: arrived,
            answered: arrival.answeredAtMicroseconds / 1_000, connectedAt: connectedAt,
            isTold: arrival.status == 200 || arrival.status == 410)
        tally.arrivals += 1
        if let death = deaths[arrival.token] { suspect(arrival, number, reach, after: death) }
        if arrival.status == 410 {
            tally.gone += 1
            return deaths[arrival.token] = reach
        }
        if arrival.status == 403 { tally.forbidden += 1 }
        guard arrival.verdict != nil else { return tally.notTaken += 1 }
        tally.pushes += 1
        answers.append(reach.answered)
        guard
            let place = activities[number.serial]?.places.firstIndex(where: {
                $0.hardwareID == arrival.hardwareID
            })
        else {
            guard !isLateEnd(number, arrival.hardwareID) else { return }
            return breach(
                "a push for an activity that is over: \(name(number)) at \(arrival.hardwareID), \(clock(reach.arrived))"
            )
        }
        reached(number, place, reach, arrival.hardwareID)
    }

    private mutating func reached(_ number: ChaosNumber, _ place: Int, _ reach: Reach, _ hardwareID: String) {
        let former = activities[number.serial]?.places[place].last
        if number.step == 0 { activities[number.serial]?.places[place].isStarted = true }
        pace(number, place, reach, hardwareID)
        guard let former, former.step >= number.step else {
            activities[number.serial]?.open[number.step]?.reaches.append(reach)
            activities[number.serial]?.places[place].last = reach
            return
        }
        if former.step > number.step {
            return breach(
                "an older state after \(former.step) (\(clock(former.arrived))): \(name(number)) at \(hardwareID), "
                    + clock(reach.arrived))
        }
        tally.repeated += 1
        suspicions.append(
            Suspicion(
                former: former, again: reach.arrived,
                text:
                    "twice: \(name(number)) at \(hardwareID), \(clock(former.arrived)) (\(former.apnsID)) and "
                    + "\(clock(reach.arrived)) (\(reach.apnsID))"))
        activities[number.serial]?.places[place].last = reach
        let known = activities[number.serial]?.open[number.step]?.reaches.firstIndex(of: former)
        if let known { activities[number.serial]?.open[number.step]?.reaches[known] = reach }
    }

    /// Suspects an update that comes sooner after the last one than the pace allows.
    private mutating func pace(_ number: ChaosNumber, _ place: Int, _ reach: Reach, _ hardwareID: String) {
        guard let activity = activities[number.serial], activity.open[number.step]?.kind == .update,
            reach.isTold
        else { return }
        let former = activity.places[place].paced
        guard former.map({ $0.step < number.step }) ?? true else { return }
        activities[number.serial]?.places[place].paced = reach
        // Who dismisses an activity and registers a token for it again takes part anew.
        guard let former, !activity.isDismissed else { return }
        let passed = reach.arrived - former.arrived
        tally.paced += 1
        guard passed < intervalMilliseconds - Self.lateMilliseconds else {
            return tally.shortestMilliseconds = min(tally.shortestMilliseconds, passed)
        }
        suspicions.append(
            Suspicion(
                former: former, again: reach.arrived,
                text: "\(passed) ms after \(former.step) (\(clock(former.arrived))): \(name(number)) at "
                    + "\(hardwareID), \(clock(reach.arrived))",
                isRepeat: false))
    }

    /// Why nobody could know of a push when the next came; nil if somebody must have known.
    func excuse(_ former: Reach, until now: Int64) -> ChaosTally.Excuse? {
        if !former.isTold { return .lostAnswer }
        if let end = timeline.end(ofGatewayWith: former, until: now) {
            return .gateway(ageMilliseconds: max(0, end - former.answered))
        }
        return timeline.isCutOff(answered: former.answered, since: former.arrived, until: now)
            ? .lostAnswer : nil
    }

    /// Suspects a push to a token of which APNs has said 410, whatever it says now.
    private mutating func suspect(
        _ arrival: ArrivalFeed.Arrival, _ number: ChaosNumber, _ reach: Reach, after death: Reach
    ) {
        tally.goneAgain += 1
        guard activities[number.serial]?.isRegisteredLate != true else { return }
        suspicions.append(
            Suspicion(
                former: death, again: reach.arrived,
                text: "a dead token again, told \(clock(death.arrived)): \(name(number)) at "
                    + "\(arrival.hardwareID), \(clock(reach.arrived)), token \(arrival.token.prefix(12))…",
                isRepeat: false))
    }

    /// Tells which repeats nobody could know of, and which are breaches, once all evidence is there.
    mutating func weigh() {
        for suspicion in suspicions {
            guard let excuse = excuse(suspicion.former, until: suspicion.again) else {
                breach(suspicion.text)
                continue
            }
            if suspicion.isRepeat { tally.count(excuse) }
        }
        suspicions = []
        tally.inFlightAtEnds = timeline.lost(of: answers.sorted())
    }

    /// The time of day in UTC, to the millisecond.
    func clock(_ milliseconds: Int64) -> String { ClockText.day(milliseconds) }
}
