import Contracts
import Store

/// What the order of release must know of a group of registrations.
struct GroupHead {
    var sequence: Int64
    var application: String
    /// How many registrations it has.
    var count: Int
    /// Who has not taken it yet.
    var receivers: [Receiver]

    /// What is for one receiver.
    struct Receiver {
        var service: ServiceName
        /// How many registrations.
        var count: Int
        /// The devices they are about, each once.
        var devices: [String]
        /// The activities and their tokens that they name.
        var activities: [(id: String, token: String)]
    }

    /// What a group has for those who have not taken it.
    init(_ group: RegistrationGroup, waitingFor services: [ServiceName]) {
        sequence = group.sequence
        application = group.application
        count = group.entries.count
        receivers = services.compactMap { service in
            group.restricted(to: service).map { Receiver(service, $0.entries) }
        }
    }
}

extension GroupHead.Receiver {
    fileprivate init(_ service: ServiceName, _ entries: [RegistrationGroup.Entry]) {
        self.service = service
        count = entries.count
        devices = []
        activities = []
        var seen: Set<String> = []
        for entry in entries {
            if seen.insert(entry.device).inserted { devices.append(entry.device) }
            // No update or end goes to a push-to-start token, so that none has to wait for one.
            if case .activityToken(let token) = entry.change {
                activities.append((token.activity, token.token))
            }
        }
    }
}

extension Journal {
    /// The services that a group may be for.
    private static let receivers: [ServiceName] = [.segmenter, .tokenRegistry]

    /// Keeps a group of registrations until all its receivers have taken it.
    ///
    /// - Returns: what stands in line for it.
    func insert(_ group: RegistrationGroup) throws(StoreError) -> GroupHead {
        let head = GroupHead(group, waitingFor: Journal.receivers)
        try database.run(
            "INSERT INTO registrationGroups (sequence, application, count, pending) VALUES (?, ?, ?, ?)",
            .int(group.sequence), .text(group.application), .int(Int64(head.count)),
            .int(head.receivers.reduce(0) { $0 | $1.service.pendingBit }))
        try database.run(
            "INSERT INTO groupContents (sequence, content) VALUES (?, ?)", .int(group.sequence),
            .blob(try content(of: group)))
        return head
    }

    /// A group that somebody still has to take.
    func group(_ sequence: Int64) throws(StoreError) -> RegistrationGroup? {
        if let lastGroup, lastGroup.sequence == sequence { return lastGroup }
        lastGroup = try database.first("SELECT content FROM groupContents WHERE sequence = ?", .int(sequence))
        {
            row throws(StoreError) in try group(row.blob(0))
        }
        return lastGroup
    }

    /// About how many registrations a group has.
    static var groupCountUsual: Int { 200 }

    /// Groups of a page that somebody still has to take, the oldest first.
    func waitingGroups(_ page: AtHand.Page, countMax: Int) throws(StoreError) -> [GroupHead] {
        try database.all(
            """
            SELECT g.pending, c.content FROM registrationGroups g JOIN groupContents c ON c.sequence = g.sequence
            WHERE g.application = ? AND g.sequence > ? ORDER BY g.sequence LIMIT ?
            """, .text(page.application), .int(page.behind), .int(Int64(countMax))
        ) { row throws(StoreError) in
            let pending = row.int(0)
            return GroupHead(
                try group(row.blob(1)),
                waitingFor: Journal.receivers.filter { $0.pendingBit & pending != 0 })
        }
    }

    /// Notes that a receiver has a group.
    ///
    /// - Returns: whose it is and how many registrations it has, and whether all have it now; nil if it was not waiting
    ///   for that receiver.
    func markTaken(group sequence: Int64, by service: ServiceName) throws(StoreError)
        -> (application: String, count: Int, isTakenByAll: Bool)?
    {
        let left = try database.first(
            """
            UPDATE registrationGroups SET pending = pending & ~?1 WHERE sequence = ?2 AND pending & ?1 <> 0
            RETURNING application, count, pending
            """, .int(service.pendingBit), .int(sequence)
        ) { (application: $0.text(0), count: Int($0.int(1)), isTakenByAll: $0.int(2) == 0) }
        guard left?.isTakenByAll == true else { return left }
        if lastGroup?.sequence == sequence { lastGroup = nil }
        try database.run("DELETE FROM registrationGroups WHERE sequence = ?", .int(sequence))
        try database.run("DELETE FROM groupContents WHERE sequence = ?", .int(sequence))
        return left
    }

    /// Notes that a push-to-start token is registered again, which lifts what was known against it.
    ///
    /// A token of which nothing is known gets no row: a million of them would be remembered for hours, only so that a
    /// fact about an older registration that is under way just now is ignored. Such a fact counts for the moment until
    /// the registry has taken the new registration, and says that the token lives.
    func registerAgain(
        startToken token: String, application: String, device: String, sequence: Int64,
        atMilliseconds now: Int64
    ) throws(StoreError) {
        try database.run(
            """
            UPDATE tokens SET registration = ?3, mark = NULL, seenAt = ?5, run = NULL, device = ?4,
                firstAt = CASE WHEN run IS NULL AND device IS ?4 THEN firstAt ELSE ?5 END
            WHERE application = ?1 AND token = ?2
            """, .text(application), .text(token), .int(sequence), .text(device), .int(now))
    }

    private func content(of group: RegistrationGroup) throws(StoreError) -> [UInt8] {
        do {
            return try coder.bodies([.registrations(group)])
        } catch {
            throw StoreError(call: "encode", message: "a group of registrations cannot be written")
        }
    }

    private func group(_ content: [UInt8]) throws(StoreError) -> RegistrationGroup {
        guard case .registrations(let group)? = try? coder.messages(.registrations, content).first else {
            throw StoreError(call: "decode", message: "a column holds no group of registrations")
        }
        return group
    }
}
