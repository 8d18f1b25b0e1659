import Contracts
import Store

extension ServiceName {
    /// The bit of a receiver in `registrations.pending`.
    var pendingBit: Int64 {
        switch self {
        case .segmenter: 1
        case .tokenRegistry: 2
        default: 0
        }
    }
}

/// What the order of release must know of a registration.
struct RegistrationHead: Equatable {
    var sequence: Int64
    var application: String
    var device: String
    /// The activity it names.
    var activity: String?
    /// The token it names.
    var token: String?
    /// Who has not taken it yet.
    var receivers: [ServiceName]
}

extension RegistrationHead {
    /// What a registration names.
    init(_ registration: Registration) {
        sequence = registration.sequence
        application = registration.application
        device = registration.device
        receivers = registration.receivers
        switch registration.change {
        case .activityToken(let token):
            activity = token.activity
            self.token = token.token.isEmpty ? nil : token.token
        case .startToken(let token): self.token = token.token.isEmpty ? nil : token.token
        default: break
        }
    }
}

extension Journal {
    /// Keeps a registration until all its receivers have taken it.
    func insert(_ registration: Registration) throws(StoreError) {
        let head = RegistrationHead(registration)
        try database.run(
            "INSERT INTO registrations VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            .int(registration.sequence), .text(registration.application), .text(registration.device),
            .text(try encoded(registration.change)), .int(registration.acceptedAtMilliseconds),
            Value(head.activity), Value(head.token), .int(head.receivers.reduce(0) { $0 | $1.pendingBit }))
    }

    /// A registration that somebody still has to take.
    func registration(_ sequence: Int64) throws(StoreError) -> Registration? {
        try database.first(
            "SELECT application, device, change, acceptedAt FROM registrations WHERE sequence = ?",
            .int(sequence)
        ) { row throws(StoreError) in
            Registration(
                sequence: sequence, application: row.text(0), device: row.text(1),
                change: try value(Registration.Change.self, row.text(2)), acceptedAtMilliseconds: row.int(3))
        }
    }

    /// How many registrations of each application somebody still has to take, those of groups too.
    func waitingRegistrationCounts() throws(StoreError) -> [(application: String, count: Int)] {
        try database.all(
            """
            SELECT application, sum(count) FROM (
                SELECT application, count(*) AS count FROM registrations GROUP BY application
                UNION ALL SELECT application, sum(count) FROM registrationGroups GROUP BY application)
            GROUP BY application ORDER BY application
            """
        ) { ($0.text(0), Int($0.int(1))) }
    }

    /// Registrations that were accepted one by one, or together.
    enum WaitingPiece {
        case single(RegistrationHead)
        case group(GroupHead)

        var sequence: Int64 {
            switch self {
            case .single(let head): head.sequence
            case .group(let head): head.sequence
            }
        }
    }

    /// A page of what somebody still has to take, the oldest first; a group that begins in it is whole.
    ///
    /// - Returns: the pieces, and whether there are no more.
    func waitingRegistrations(_ page: AtHand.Page) throws(StoreError) -> (pieces: [WaitingPiece], isAll: Bool)
    {
        let singles = try waitingSingles(page)
        let groupsMax = page.countMax / Journal.groupCountUsual + 1
        let groups = try waitingGroups(page, countMax: groupsMax)
        // What lies behind the end of either may be preceded by more of it.
        let through = min(
            singles.count < page.countMax ? .max : singles.last?.sequence ?? .max,
            groups.count < groupsMax ? .max : groups.last?.sequence ?? .max)
        let pieces = singles.map(WaitingPiece.single) + groups.map(WaitingPiece.group)
        return (
            pieces.filter { $0.sequence <= through }.sorted { $0.sequence < $1.sequence }, through == .max
        )
    }

    private func waitingSingles(_ page: AtHand.Page) throws(StoreError) -> [RegistrationHead] {
        try database.all(
            """
            SELECT sequence, device, activity, token, pending FROM registrations
            WHERE application = ? AND sequence > ? ORDER BY sequence LIMIT ?
            """, .text(page.application), .int(page.behind), .int(Int64(page.countMax))
        ) { row in
            let pending = row.int(4)
            return RegistrationHead(
                sequence: row.int(0), application: page.application, device: row.text(1),
                activity: row.optionalText(2), token: row.optionalText(3),
                receivers: ServiceName.allCases.filter { $0.pendingBit & pending != 0 })
        }
    }

    /// Notes that a receiver has a registration.
    ///
    /// - Returns: whose it is, and whether all have it now; nil if it was not waiting for that receiver.
    func markTaken(registration sequence: Int64, by service: ServiceName) throws(StoreError)
        -> (application: String, isTakenByAll: Bool)?
    {
        let left = try database.first(
            """
            UPDATE registrations SET pending = pending & ~?1 WHERE sequence = ?2 AND pending & ?1 <> 0
            RETURNING application, pending
            """, .int(service.pendingBit), .int(sequence)
        ) { (application: $0.text(0), isTakenByAll: $0.int(1) == 0) }
        if left?.isTakenByAll == true {
            try database.run("DELETE FROM registrations WHERE sequence = ?", .int(sequence))
        }
        return left
    }
}
