import Contracts
import Store

extension ParticipantFields {
    static let columns = """
        p.number, p.run, p.device, p.state, p.full_at, p.five_at, p.last_seconds, p.last_sequence, p.last_wire,
        p.waiting, p.handed, p.newest, p."end", p.sent_at, p.outcome, p.reason,
        p.token, p.token_state, p.token_sequence, p.client_seconds, p.accepted_at, p.first_at, p.listens,
        p.died_at
        """
    static let columnCount = 24

    init(_ row: borrowing Row, _ offset: Int = 0) throws(StoreError) {
        number = row.int(offset)
        run = row.int(offset + 1)
        device = row.int(offset + 2)
        state = try row.code(offset + 3)
        pace.fullAtMilliseconds = row.int(offset + 4)
        pace.fiveNotBeforeMilliseconds = row.int(offset + 5)
        pace.lastOrder = row.optionalInt(offset + 6).map { [sequence = row.int(offset + 7)] in
            Order(seconds: $0, sequence: sequence)
        }
        pace.lastWireSeconds = row.int(offset + 8)
        waiting = row.optionalInt(offset + 9)
        handed = row.optionalInt(offset + 10)
        newest = row.optionalInt(offset + 11)
        end = row.optionalInt(offset + 12)
        sentAt = row.optionalInt(offset + 13)
        outcome = row.optionalText(offset + 14)
        reason = row.optionalText(offset + 15)
        place = TokenPlace(
            token: row.optionalText(offset + 16), state: try row.code(offset + 17),
            sequence: row.int(offset + 18), clientSeconds: row.optionalInt(offset + 19),
            acceptedAt: row.int(offset + 20), firstAt: row.int(offset + 21), diedAt: row.int(offset + 23))
        listens = row.isNull(offset + 22) ? nil : row.bool(offset + 22)
    }
}

extension Ledger {
    private static let select = "SELECT \(ParticipantFields.columns) FROM participant p"
    private static let byNumber = SQL("\(select) WHERE p.number = ?")
    private static let byPlace = SQL("\(select) WHERE p.run = ? AND p.device = ?")
    private static let byToken = SQL(
        """
        \(select) JOIN run r ON r.number = p.run
        WHERE p.token = ? AND r.application = ? ORDER BY p.number
        """)
    private static let byDevice = SQL(
        "\(select) WHERE p.device = ? AND p.token IS NOT NULL ORDER BY p.number")
    private static let ofRun = SQL(
        """
        SELECT \(ParticipantFields.columns), \(DeviceFields.columns) FROM participant p
        JOIN device v ON v.number = p.device
        WHERE p.run = ? AND p.device > ? AND p.number <= ? ORDER BY p.device LIMIT ?
        """)

    private static let byTokenOfRun = SQL(
        """
        SELECT \(ParticipantFields.columns), \(DeviceFields.columns)
        FROM participant p INDEXED BY participant_by_token JOIN device v ON v.number = p.device
        WHERE p.listens = 0 AND p.run = ? AND p.device > ? AND p.number <= ? ORDER BY p.device LIMIT ?
        """)
    private static let behindNewest = SQL(
        "\(select) WHERE p.device = ? AND p.token IS NOT NULL ORDER BY p.number DESC LIMIT 1 OFFSET ?")
    private static let newestOfDevice = SQL(
        "\(select) WHERE p.device = ? AND p.token IS NOT NULL ORDER BY p.number DESC LIMIT 1")

    /// Has all participants of a run served by their tokens, not by its channel.
    func serveByToken(run: Int64) throws(StoreError) {
        try database.run("UPDATE participant SET listens = 0 WHERE run = ?", .int(run))
    }

    func participant(_ number: Int64) throws(StoreError) -> ParticipantFields? {
        try database.first(Ledger.byNumber, .int(number)) { row throws(StoreError) in
            try ParticipantFields(row)
        }
    }

    func participant(run: Int64, device: Int64) throws(StoreError) -> ParticipantFields? {
        try database.first(Ledger.byPlace, .int(run), .int(device)) { row throws(StoreError) in
            try ParticipantFields(row)
        }
    }

    /// The participants of an application that hold a token.
    func participants(_ application: String, token: String) throws(StoreError) -> [ParticipantFields] {
        try database.all(Ledger.byToken, .text(token), .text(application)) { row throws(StoreError) in
            try ParticipantFields(row)
        }
    }

    /// The participants of a device that hold a token.
    func participants(device: Int64) throws(StoreError) -> [ParticipantFields] {
        try database.all(Ledger.byDevice, .int(device)) { row throws(StoreError) in
            try ParticipantFields(row)
        }
    }

    /// The newest participant of a device that holds a token.
    func newestParticipant(device: Int64) throws(StoreError) -> ParticipantFields? {
        try database.first(Ledger.newestOfDevice, .int(device)) { row throws(StoreError) in
            try ParticipantFields(row)
        }
    }

    /// The participant of a device that holds a token behind so many newer ones; nil if there are not so many.
    func participant(device: Int64, behind count: Int) throws(StoreError) -> ParticipantFields? {
        try database.first(Ledger.behindNewest, .int(device), Value(count)) { row throws(StoreError) in
            try ParticipantFields(row)
        }
    }

    /// The next participants of a run with their devices, in the order of their devices; on demand only those that
    /// are served by token beside a channel.
    func participants(
        run: Int64, after device: Int64, through number: Int64, limit: Int, besidesChannel: Bool = false
    ) throws(StoreError) -> [(participant: ParticipantFields, device: DeviceFields)] {
        let query = besidesChannel ? Ledger.byTokenOfRun : Ledger.ofRun
        return try database.all(query, .int(run), .int(device), .int(number), Value(limit)) {
            row throws(StoreError) in
            (try ParticipantFields(row), try DeviceFields(row, ParticipantFields.columnCount))
        }
    }

    /// The highest number a participant has; 0 if there is none.
    func lastParticipant() throws(StoreError) -> Int64 {
        try database.first("SELECT max(number) FROM participant") { $0.int(0) } ?? 0
    }

    /// Whether a device took part in an earlier run of the same activity.
    func tookPartBefore(_ run: RunFields, device: Int64) throws(StoreError) -> Bool {
        let found = try database.first(
            """
            SELECT 1 FROM run r JOIN participant p ON p.run = r.number AND p.device = ?
            WHERE r.application = ? AND r.activity = ? AND r.number < ? LIMIT 1
            """, .int(device), .text(run.application), .text(run.activity), .int(run.number)
        ) { _ in true }
        return found ?? false
    }

    func add(_ participant: ParticipantFields) throws(StoreError) {
        try database.run(
            """
            INSERT INTO participant (number, run, device, state, full_at, five_at, last_wire, token, token_state,
                token_sequence, client_seconds, accepted_at, first_at, died_at, listens)
            VALUES (?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .int(participant.number), .int(participant.run), .int(participant.device),
            .int(participant.state.rawValue), Value(participant.place.token),
            .int(participant.place.state.rawValue),
            .int(participant.place.sequence), Value(participant.place.clientSeconds),
            .int(participant.place.acceptedAt), .int(participant.place.firstAt),
            .int(participant.place.diedAt), participant.listens.map { Value($0) } ?? .null)
    }

    /// Writes a participant; its token only if that has changed, as it lies in two more indexes.
    func save(_ participant: ParticipantFields, tokenToo: Bool) throws(StoreError) {
        let pace = participant.pace
        try database.run(
            """
            UPDATE participant SET state = ?, full_at = ?, five_at = ?, last_seconds = ?, last_sequence = ?,
                last_wire = ?, waiting = ?, handed = ?, newest = ?, "end" = ?, sent_at = ?, outcome = ?, reason = ?,
                listens = ? WHERE number = ?
            """, .int(participant.state.rawValue), .int(pace.fullAtMilliseconds),
            .int(pace.fiveNotBeforeMilliseconds), Value(pace.lastOrder?.seconds),
            Value(pace.lastOrder?.sequence), .int(pace.lastWireSeconds), Value(participant.waiting),
            Value(participant.handed), Value(participant.newest), Value(participant.end),
            Value(participant.sentAt), Value(participant.outcome), Value(participant.reason),
            participant.listens.map { Value($0) } ?? .null, .int(participant.number))
        guard tokenToo else { return }
        let place = participant.place
        try database.run(
            """
            UPDATE participant SET token = ?, token_state = ?, token_sequence = ?, client_seconds = ?,
                accepted_at = ?, first_at = ?, died_at = ? WHERE number = ?
            """, Value(place.token), .int(place.state.rawValue), .int(place.sequence),
            Value(place.clientSeconds),
            .int(place.acceptedAt), .int(place.firstAt), .int(place.diedAt), .int(participant.number))
    }

    /// Forgets some participants of a run, and the guests among their devices.
    ///
    /// - Returns: how many participants.
    func removeParticipants(run: Int64, limit: Int) throws(StoreError) -> Int {
        let devices = try database.all(
            "SELECT device FROM participant WHERE run = ? ORDER BY device LIMIT ?", .int(run), Value(limit)
        ) { $0.int(0) }
        for device in devices {
            try database.run(
                """
                DELETE FROM start_token WHERE device IN
                    (SELECT number FROM device WHERE number = ? AND guest_run = ?)
                """, .int(device), .int(run))
            try database.run(
                "DELETE FROM device WHERE number = ? AND guest_run = ?", .int(device), .int(run))
            try database.run(
                "DELETE FROM participant WHERE run = ? AND device = ?", .int(run), .int(device))
        }
        return devices.count
    }
}
