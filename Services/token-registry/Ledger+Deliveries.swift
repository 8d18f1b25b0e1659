import Contracts
import Store

extension DeliveryFields {
    static let columns = """
        d.message, d.device, d.participant, d.state, d.place, d.at, d.attempt, d.priority, d.alert, d.not_before,
        d.send_before, d.limiter, d.wire, d.sent_at, d.unsure, d.trial, d.reason, d.changed_at,
        d.retry_at, d.token_sequence
        """
    static let columnCount = 20

    init(_ row: borrowing Row, _ offset: Int = 0) throws(StoreError) {
        id = PushID(message: row.int(offset), device: row.int(offset + 1))
        participant = row.int(offset + 2)
        state = try row.code(offset + 3)
        place = row.optionalInt(offset + 4)
        at = row.int(offset + 5)
        attempt = Int(row.int(offset + 6))
        priority = Int(row.int(offset + 7))
        alert = row.optionalInt(offset + 8)
        notBefore = row.int(offset + 9)
        sendBefore = row.int(offset + 10)
        limiter = Int(row.int(offset + 11))
        wireSeconds = row.optionalInt(offset + 12)
        sentAt = row.int(offset + 13)
        isUnsure = row.bool(offset + 14)
        isTrial = row.bool(offset + 15)
        reason = row.optionalText(offset + 16)
        changedAt = row.int(offset + 17)
        retryAt = row.int(offset + 18)
        tokenSequence = row.int(offset + 19)
    }
}

/// A delivery with what is needed to hand it over.
struct DueDelivery {
    var delivery: DeliveryFields
    var participant: ParticipantFields?
    var device: DeviceFields
}

extension Ledger {
    private static let byID = SQL(
        "SELECT \(DeliveryFields.columns) FROM delivery d WHERE d.message = ? AND d.device = ?")
    private static let ofMessage = SQL(
        """
        SELECT \(DeliveryFields.columns) FROM delivery d WHERE d.message = ? AND d.device > ?
        ORDER BY d.device LIMIT ?
        """)
    private static let inPlace = SQL(
        """
        SELECT \(DeliveryFields.columns), \(DeviceFields.columns), \(ParticipantFields.columns) FROM delivery d
        JOIN device v ON v.number = d.device LEFT JOIN participant p ON p.number = d.participant
        WHERE d.place = ? AND (d.at, d.message, d.device) > (?, ?, ?) AND d.at <= ?
        ORDER BY d.at, d.message, d.device LIMIT ?
        """)

    func delivery(_ id: PushID) throws(StoreError) -> DeliveryFields? {
        try database.first(Ledger.byID, .int(id.message), .int(id.device)) { row throws(StoreError) in
            try DeliveryFields(row)
        }
    }

    func hasDelivery(_ id: PushID) throws(StoreError) -> Bool {
        let found = try database.first(
            "SELECT 1 FROM delivery WHERE message = ? AND device = ?", .int(id.message), .int(id.device)
        ) { _ in true }
        return found ?? false
    }

    /// The next deliveries of a message, in the order of their devices.
    func deliveries(message: Int64, after device: Int64, limit: Int) throws(StoreError) -> [DeliveryFields] {
        try database.all(Ledger.ofMessage, .int(message), .int(device), Value(limit)) {
            row throws(StoreError) in try DeliveryFields(row)
        }
    }

    /// What lies in a place up to an instant, in the order of time, from one row on.
    func due(
        place: Int64, through at: Int64, after last: (at: Int64, id: PushID)? = nil, limit: Int
    ) throws(StoreError) -> [DueDelivery] {
        let last = last ?? (.min, PushID(message: .min, device: .min))
        return try database.all(
            Ledger.inPlace, .int(place), .int(last.at), .int(last.id.message), .int(last.id.device), .int(at),
            Value(limit)
        ) { row throws(StoreError) in
            let after = DeliveryFields.columnCount + DeviceFields.columnCount
            return DueDelivery(
                delivery: try DeliveryFields(row),
                participant: row.isNull(after) ? nil : try ParticipantFields(row, after),
                device: try DeviceFields(row, DeliveryFields.columnCount))
        }
    }

    /// When something in a place is due first.
    func nextDue(place: Int64) throws(StoreError) -> Int64? {
        try database.first("SELECT at FROM delivery WHERE place = ? ORDER BY at LIMIT 1", .int(place)) {
            $0.int(0)
        }
    }

    /// The next place above one that something lies in, and when it is due first.
    func nextPlace(after place: Int64) throws(StoreError) -> (place: Int64, at: Int64)? {
        try database.first(
            "SELECT place, at FROM delivery WHERE place > ? ORDER BY place, at LIMIT 1", .int(place)
        ) { ($0.int(0), $0.int(1)) }
    }

    func add(_ delivery: DeliveryFields) throws(StoreError) {
        try database.run(
            """
            INSERT INTO delivery (message, device, participant, state, place, at, attempt, priority, alert,
                not_before, retry_at, send_before, limiter, wire, sent_at, unsure, trial, reason, changed_at,
                token_sequence)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .int(delivery.id.message), .int(delivery.id.device), .int(delivery.participant),
            .int(delivery.state.rawValue), Value(delivery.place), .int(delivery.at), Value(delivery.attempt),
            Value(delivery.priority), Value(delivery.alert), .int(delivery.notBefore),
            .int(delivery.retryAt), .int(delivery.sendBefore), Value(delivery.limiter),
            Value(delivery.wireSeconds), .int(delivery.sentAt),
            Value(delivery.isUnsure),
            Value(delivery.isTrial), Value(delivery.reason), .int(delivery.changedAt),
            .int(delivery.tokenSequence))
    }

    func save(_ delivery: DeliveryFields) throws(StoreError) {
        try database.run(
            """
            UPDATE delivery SET participant = ?, state = ?, place = ?, at = ?, attempt = ?, priority = ?, alert = ?,
                not_before = ?, retry_at = ?, send_before = ?, limiter = ?, wire = ?, sent_at = ?, unsure = ?, trial = ?,
                reason = ?, changed_at = ?, token_sequence = ? WHERE message = ? AND device = ?
            """, .int(delivery.participant), .int(delivery.state.rawValue), Value(delivery.place),
            .int(delivery.at), Value(delivery.attempt), Value(delivery.priority), Value(delivery.alert),
            .int(delivery.notBefore), .int(delivery.retryAt), .int(delivery.sendBefore),
            Value(delivery.limiter), Value(delivery.wireSeconds), .int(delivery.sentAt),
            Value(delivery.isUnsure), Value(delivery.isTrial), Value(delivery.reason),
            .int(delivery.changedAt), .int(delivery.tokenSequence), .int(delivery.id.message),
            .int(delivery.id.device))
    }

    /// Forgets the deliveries of a message up to a device.
    func removeDeliveries(message: Int64, through device: Int64) throws(StoreError) {
        try database.run(
            "DELETE FROM delivery WHERE message = ? AND device <= ?", .int(message), .int(device))
    }
}
