import Contracts
import Store

/// A device's push-to-start token of one type.
struct StartPlace: Equatable {
    let device: Int64
    /// The attributes type; empty serves every type.
    let type: String
    var place: TokenPlace
}

extension StartPlace {
    fileprivate init(_ row: borrowing Row) throws(StoreError) {
        device = row.int(0)
        type = row.text(1)
        place = TokenPlace(
            token: row.optionalText(2), state: try row.code(3), sequence: row.int(4),
            clientSeconds: row.optionalInt(5), acceptedAt: row.int(6), firstAt: row.int(7))
    }
}

extension Ledger {
    func startPlace(device: Int64, type: String) throws(StoreError) -> StartPlace? {
        try database.first(
            """
            SELECT device, type, token, state, sequence, client_seconds, accepted_at, first_at FROM start_token
            WHERE device = ? AND type = ?
            """, .int(device), .text(type)
        ) { row throws(StoreError) in try StartPlace(row) }
    }

    func save(_ start: StartPlace) throws(StoreError) {
        try database.run(
            """
            INSERT INTO start_token (device, type, token, state, sequence, client_seconds, accepted_at, first_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, type) DO UPDATE SET token = excluded.token,
                state = excluded.state, sequence = excluded.sequence, client_seconds = excluded.client_seconds,
                accepted_at = excluded.accepted_at, first_at = excluded.first_at
            """, .int(start.device), .text(start.type), Value(start.place.token),
            .int(start.place.state.rawValue), .int(start.place.sequence), Value(start.place.clientSeconds),
            .int(start.place.acceptedAt), .int(start.place.firstAt))
    }

    /// The places of an application that hold a push-to-start token.
    func startPlaces(_ application: String, token: String) throws(StoreError) -> [StartPlace] {
        try database.all(
            """
            SELECT t.device, t.type, t.token, t.state, t.sequence, t.client_seconds, t.accepted_at, t.first_at
            FROM start_token t JOIN device v ON v.number = t.device WHERE t.token = ? AND v.application = ?
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

    /// Takes all push-to-start tokens of a device back.
    func clearStartTokens(device: Int64, sequence: Int64) throws(StoreError) {
        try database.run(
            "UPDATE start_token SET token = NULL, sequence = ?2 WHERE device = ?1 AND sequence < ?2",
            .int(device), .int(sequence))
    }
}
