import Contracts
import Store

/// A device's push-to-start token of one type.
struct StartPlace: Equatable {
    let device: Int64
    /// The attributes type; empty serves every type.
    let type: String
    var place: TokenPlace
}

/// What decides about a start for one recipient.
struct StartCandidate {
    var device: DeviceFields
    /// Whether the message has a row for it already.
    var hasRow: Bool
    /// Its participant in the run.
    var participant: Int64?
    /// The token that starts an activity of the type.
    var token: String?
}

extension StartPlace {
    fileprivate init(_ row: borrowing Row) throws(StoreError) {
        device = row.int(0)
        type = row.text(1)
        place = TokenPlace(
            token: row.optionalText(2), state: try row.code(3), sequence: row.int(4),
            clientSeconds: row.optionalInt(5), acceptedAt: row.int(6), firstAt: row.int(7),
            diedAt: row.int(8))
    }
}

extension Ledger {
    func startPlace(device: Int64, type: String) throws(StoreError) -> StartPlace? {
        try database.first(
            """
            SELECT device, type, token, state, sequence, client_seconds, accepted_at, first_at, died_at
            FROM start_token WHERE device = ? AND type = ?
            """, .int(device), .text(type)
        ) { row throws(StoreError) in try StartPlace(row) }
    }

    func save(_ start: StartPlace) throws(StoreError) {
        try database.run(
            """
            INSERT INTO start_token (device, type, token, state, sequence, client_seconds, accepted_at, first_at,
                died_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, type) DO UPDATE SET token = excluded.token,
                state = excluded.state, sequence = excluded.sequence, client_seconds = excluded.client_seconds,
                accepted_at = excluded.accepted_at, first_at = excluded.first_at, died_at = excluded.died_at
            """, .int(start.device), .text(start.type), Value(start.place.token),
            .int(start.place.state.rawValue), .int(start.place.sequence), Value(start.place.clientSeconds),
            .int(start.place.acceptedAt), .int(start.place.firstAt), .int(start.place.diedAt))
    }

    /// Makes room for one more type of a device that has so many.
    func makeRoomForType(device: Int64, max: Int) throws(StoreError) {
        let isFull = try database.first(
            "SELECT 1 FROM start_token WHERE device = ? ORDER BY type LIMIT 1 OFFSET ?", .int(device),
            Value(max - 1)
        ) { _ in true }
        guard isFull == true else { return }
        try database.run(
            """
            DELETE FROM start_token WHERE device = ?1 AND type IN
                (SELECT type FROM start_token WHERE device = ?1 ORDER BY sequence DESC, type LIMIT -1 OFFSET ?2)
            """, .int(device), Value(max - 1))
    }

    /// The places of an application that hold a push-to-start token.
    func startPlaces(_ application: String, token: String) throws(StoreError) -> [StartPlace] {
        try database.all(
            """
            SELECT t.device, t.type, t.token, t.state, t.sequence, t.client_seconds, t.accepted_at, t.first_at,
                t.died_at FROM start_token t JOIN device v ON v.number = t.device WHERE t.token = ? AND v.application = ?
            ORDER BY t.device, t.type
            """, .text(token), .text(application)
        ) { row throws(StoreError) in try StartPlace(row) }
    }

    /// The token that starts an activity of a type on a device: that type's, else one without a type.
    func startToken(device: Int64, type: String) throws(StoreError) -> String? {
        try database.first(
            """
            SELECT token FROM start_token WHERE device = ?1 AND type IN (?2, '') AND token IS NOT NULL AND state = 0
            ORDER BY type DESC LIMIT 1
            """, .int(device), .text(type)
        ) { $0.text(0) }
    }

    private static let candidate = SQL(
        """
        SELECT \(DeviceFields.columns),
            EXISTS (SELECT 1 FROM delivery d WHERE d.message = ?3 AND d.device = v.number),
            (SELECT p.number FROM participant p WHERE p.run = ?4 AND p.device = v.number),
            (SELECT t.token FROM start_token t WHERE t.device = v.number AND t.type IN (?5, '')
                AND t.token IS NOT NULL AND t.state = 0 ORDER BY t.type DESC LIMIT 1)
        FROM device v WHERE v.application = ?1 AND v.hwid = ?2
        """)

    /// All that decides about a start for a device, in one question; nil for a device that is not known.
    func startCandidate(_ application: String, hwid: String, message: Int64, run: Int64, type: String)
        throws(StoreError) -> StartCandidate?
    {
        try database.first(
            Ledger.candidate, .text(application), .text(hwid), .int(message), .int(run), .text(type)
        ) { row throws(StoreError) in
            let after = DeviceFields.columnCount
            return StartCandidate(
                device: try DeviceFields(row), hasRow: row.bool(after),
                participant: row.optionalInt(after + 1), token: row.optionalText(after + 2))
        }
    }

    /// Takes all push-to-start tokens of a device back; that one died is remembered as long as its place.
    func clearStartTokens(device: Int64, sequence: Int64) throws(StoreError) {
        try database.run(
            """
            UPDATE start_token SET token = CASE WHEN state = ?3 THEN token END, sequence = ?2
            WHERE device = ?1 AND sequence < ?2
            """, .int(device), .int(sequence), .int(TokenState.dead.rawValue))
    }
}
