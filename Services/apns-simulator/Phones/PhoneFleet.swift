/// The phones behind the tokens: what APNs knows of their tokens, and what each of them shows.
///
/// **Takes** pushes that APNs has accepted and what a person does with the phone; **gives** a verdict on each push and
/// the registrations that the app on the phone makes. It reads no clock: callers say what time it is, in UNIX
/// milliseconds.
///
/// The phone names a started activity by, in this order: `attributes.pushwoosh.activityId`; the attributes member that
/// the settings name; the next of the ids it was told to expect; an id of its own.
///
/// Weaknesses: an app's `ContentState` type is known only as a list of required members; a body in which a name
/// comes twice counts as unreadable, though a phone may take it; APNs is taken to store one push for each app and
/// phone, where Apple leaves open whether activities share that place.
struct PhoneFleet {
    /// Remembered push ids of each phone, by which a repeat is known.
    static let recentIDsPerPhone = 8

    let settings: FleetSettings
    /// Which life of the fleet this is; calls that are under way when it is reset belong to an older one.
    let era: Int
    private(set) var mint: TokenMint
    private(set) var groups: [PhoneGroup] = []
    var phones: [Phone] = []
    var activities: [LiveActivity] = []
    var freeSlots: [UInt32] = []
    private var recentIDs: [UInt64] = []
    private(set) var history: HistoryRing
    var stored: [UInt32: StoredPush] = [:]
    var expected: [UInt32: [String]] = [:]
    /// The slots that have begun to listen to a channel, also those that have ended since.
    var listeners: [String: [UInt32]] = [:]
    var registrations = RegistrationQueue()
    /// Tokens that were given by hand, both ways.
    private(set) var namedTokens: [String: UInt64] = [:]
    private(set) var names: [UInt64: String] = [:]
    private(set) var tally = FleetTally()
    private var sweptSlot = 0

    /// Makes a fleet without phones.
    ///
    /// The era says how often phones were thrown away: tokens of an earlier one are unknown in this one.
    init(settings: FleetSettings = FleetSettings(), era: Int = 0) {
        self.settings = settings
        self.era = era
        mint = TokenMint(seed: settings.seed &+ UInt64(era), lengths: settings.tokenLengths)
        history = HistoryRing(perPhone: settings.historyPerPhone, bytesMax: settings.historyBytesMax)
    }

    /// Adds phones and plans their first registrations.
    ///
    /// - Returns: their places, or nil when a hardware id exists already.
    mutating func add(
        _ traits: PhoneGroup.Traits, count: Int, firstNumber: Int?, isSingle: Bool, nowMilliseconds: Int64
    ) -> Range<Int>? {
        let first = firstNumber ?? nextNumber(prefix: traits.prefix)
        let group = PhoneGroup(
            traits, isSingle: isSingle, firstNumber: first, firstPhone: phones.count, count: count)
        guard !groups.contains(where: { Self.overlap($0, group) }) else { return nil }
        groups.append(group)
        let place = UInt32(groups.count - 1)
        phones.append(contentsOf: repeatElement(Phone(group: place), count: count))
        recentIDs.append(contentsOf: repeatElement(0, count: count * Self.recentIDsPerPhone))
        let range = group.firstPhone..<phones.count
        if traits.ingest != nil {
            for phone in range { register(.device, phone: phone, dueMilliseconds: nowMilliseconds) }
        }
        return range
    }

    private func nextNumber(prefix: String) -> Int {
        groups.filter { !$0.isSingle && $0.traits.prefix == prefix }.map(\.numbers.upperBound).max() ?? 1
    }

    private static func overlap(_ one: PhoneGroup, _ other: PhoneGroup) -> Bool {
        if one.isSingle { return other.phone(hardwareID: one.traits.prefix) != nil }
        if other.isSingle { return one.phone(hardwareID: other.traits.prefix) != nil }
        return one.traits.prefix == other.traits.prefix && one.numbers.overlaps(other.numbers)
    }

    /// The group that a phone belongs to.
    func group(of phone: Int) -> PhoneGroup { groups[Int(phones[phone].group)] }

    /// The phone with this hardware id.
    func phone(hardwareID: String) -> Int? {
        groups.lazy.compactMap { $0.phone(hardwareID: hardwareID) }.first
    }

    /// Gives a token a spelling of the caller's choice.
    mutating func name(_ reference: TokenReference, _ hex: String) {
        namedTokens[hex.lowercased()] = reference.packed
        names[reference.packed] = hex.lowercased()
    }

    /// A token in hex.
    func token(_ reference: TokenReference) -> String {
        names[reference.packed] ?? mint.token(for: reference)
    }

    /// What a token in hex stands for.
    func reference(of hex: Substring.UTF8View) -> TokenReference? {
        if let reference = mint.reference(of: hex.span) { return reference }
        guard !namedTokens.isEmpty, let text = String(hex) else { return nil }
        return namedTokens[text.lowercased()].flatMap(TokenReference.init(packed:))
    }

    /// The phone that a token leads to.
    func phone(of reference: TokenReference) -> Int {
        reference.kind == .activity
            ? Int(activities[Int(reference.index)].phone) : Int(reference.index)
    }

    /// Counts a push and notes its id.
    mutating func note(pushID: UInt64, phone: Int) {
        phones[phone].pushes &+= 1
        let base = phone * Self.recentIDsPerPhone
        if recentIDs[base..<base + Self.recentIDsPerPhone].contains(pushID) {
            phones[phone].duplicates &+= 1
            tally.duplicates += 1
        } else {
            recentIDs[base + Int(phones[phone].pushes) % Self.recentIDsPerPhone] = pushID
        }
    }

    /// Writes down what a phone made of a push.
    mutating func record(
        _ verdict: DeliveryVerdict, _ event: PushEvent, phone: Int, activityID: String,
        contentState: ArraySlice<UInt8>, atMilliseconds: Int64
    ) {
        tally.count(event, verdict)
        phones[phone].lastEntry = history.append(
            after: phones[phone].lastEntry, atMilliseconds: atMilliseconds, event: event, verdict: verdict,
            activityID: activityID, contentState: contentState)
    }

    /// Sets the counts of pushes and registrations to zero.
    mutating func resetTally() {
        tally = FleetTally()
        registrations.resetCounts()
    }

    /// Looks at some of the activities and frees those that nobody sees any more.
    mutating func sweep(nowMilliseconds: Int64, slots: Int = 2048) {
        for _ in 0..<min(slots, activities.count) {
            sweptSlot = (sweptSlot + 1) % activities.count
            let slot = sweptSlot
            guard activities[slot].state != .free else { continue }
            settle(slot, nowMilliseconds)
            let activity = activities[slot]
            guard !activity.isActive,
                activity.removedAtMilliseconds + settings.keepSeconds.milliseconds <= nowMilliseconds
            else { continue }
            release(slot, nowMilliseconds)
        }
    }
}

/// Counts of what the phones made of pushes.
struct FleetTally: Sendable {
    private static let verdicts = DeliveryVerdict.allCases.count
    private var counts = Array(repeating: 0, count: PushEvent.allCases.count * verdicts)
    var duplicates = 0

    mutating func count(_ event: PushEvent, _ verdict: DeliveryVerdict) {
        counts[Int(event.rawValue) * Self.verdicts + Int(verdict.rawValue)] += 1
    }

    /// How many pushes of a kind had this verdict.
    subscript(event: PushEvent, verdict: DeliveryVerdict) -> Int {
        counts[Int(event.rawValue) * Self.verdicts + Int(verdict.rawValue)]
    }
}
