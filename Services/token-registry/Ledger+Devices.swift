import Contracts
import Store

extension DeviceFields {
    static let columns = """
        v.number, v.application, v.hwid, v.environment, v.os_version, v.push_token, v.push_accepted_at,
        v.frequent, v.sequence, v.unregistered, v.start_full_at, v.start_handed, v.guest_run,
        v.push_state, v.push_died_at
        """
    static let columnCount = 15

    init(_ row: borrowing Row, _ offset: Int = 0) throws(StoreError) {
        number = row.int(offset)
        application = row.text(offset + 1)
        hwid = row.text(offset + 2)
        environment = row.isNull(offset + 3) ? nil : try row.word(offset + 3)
        osVersion = row.optionalText(offset + 4)
        pushToken = row.optionalText(offset + 5)
        pushAcceptedAt = row.int(offset + 6)
        frequentPushes = row.isNull(offset + 7) ? nil : row.bool(offset + 7)
        sequence = row.int(offset + 8)
        isUnregistered = row.bool(offset + 9)
        startFullAt = row.int(offset + 10)
        startHanded = row.optionalInt(offset + 11)
        guestRun = row.optionalInt(offset + 12)
        pushState = try row.code(offset + 13)
        pushDiedAt = row.int(offset + 14)
    }
}

extension Ledger {
    private static let byNumber = SQL("SELECT \(DeviceFields.columns) FROM device v WHERE v.number = ?")
    private static let byHwid = SQL(
        "SELECT \(DeviceFields.columns) FROM device v WHERE v.application = ? AND v.hwid = ?")

    func device(_ number: Int64) throws(StoreError) -> DeviceFields? {
        try database.first(Ledger.byNumber, .int(number)) { row throws(StoreError) in try DeviceFields(row) }
    }

    func device(_ application: String, hwid: String) throws(StoreError) -> DeviceFields? {
        try database.first(Ledger.byHwid, .text(application), .text(hwid)) { row throws(StoreError) in
            try DeviceFields(row)
        }
    }

    func addDevice(_ application: String, hwid: String, guestRun: Int64?) throws(StoreError) -> DeviceFields {
        try add(DeviceFields(number: 0, application: application, hwid: hwid, guestRun: guestRun))
    }

    /// Adds a device; its number is given to it.
    func add(_ device: DeviceFields) throws(StoreError) -> DeviceFields {
        try database.run(
            """
            INSERT INTO device (application, hwid, environment, os_version, push_token, push_accepted_at, frequent,
                sequence, unregistered, start_full_at, start_handed, guest_run)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .text(device.application), .text(device.hwid), Value(device.environment?.rawValue),
            Value(device.osVersion), Value(device.pushToken), .int(device.pushAcceptedAt),
            device.frequentPushes.map { Value($0) } ?? .null, .int(device.sequence),
            Value(device.isUnregistered), .int(device.startFullAt), Value(device.startHanded),
            Value(device.guestRun))
        var added = device
        added.number = database.lastInsertedRowID
        return added
    }

    func save(_ device: DeviceFields) throws(StoreError) {
        try database.run(
            """
            UPDATE device SET environment = ?, os_version = ?, push_token = ?, push_accepted_at = ?, frequent = ?,
                sequence = ?, unregistered = ?, start_full_at = ?, start_handed = ?, guest_run = ?,
                push_state = ?, push_died_at = ? WHERE number = ?
            """, Value(device.environment?.rawValue), Value(device.osVersion), Value(device.pushToken),
            .int(device.pushAcceptedAt), device.frequentPushes.map { Value($0) } ?? .null,
            .int(device.sequence), Value(device.isUnregistered), .int(device.startFullAt),
            Value(device.startHanded), Value(device.guestRun), .int(device.pushState.rawValue),
            .int(device.pushDiedAt), .int(device.number))
    }

    /// The devices of an application that hold an ordinary push token.
    func devices(_ application: String, pushToken: String) throws(StoreError) -> [Int64] {
        try database.all(
            "SELECT number FROM device WHERE push_token = ? AND application = ? ORDER BY number",
            .text(pushToken), .text(application)
        ) { $0.int(0) }
    }

    /// Forgets the guests of a run among the devices of one page of a message.
    func removeGuests(run: Int64, message: Int64, through device: Int64) throws(StoreError) {
        try database.run(
            """
            DELETE FROM start_token WHERE device IN (SELECT v.number FROM delivery d JOIN device v ON v.number = d.device
                WHERE d.message = ?1 AND d.device <= ?2 AND v.guest_run = ?3)
            """, .int(message), .int(device), .int(run))
        try database.run(
            """
            DELETE FROM device WHERE guest_run = ?3 AND number IN
                (SELECT device FROM delivery WHERE message = ?1 AND device <= ?2)
            """, .int(message), .int(device), .int(run))
    }

    // MARK: Starts of a device that wait for one another

    func addStartWait(device: Int64, message: Int64) throws(StoreError) {
        try database.run(
            "INSERT OR IGNORE INTO start_wait (device, message) VALUES (?, ?)", .int(device), .int(message))
    }

    func removeStartWait(device: Int64, message: Int64) throws(StoreError) {
        try database.run(
            "DELETE FROM start_wait WHERE device = ? AND message = ?", .int(device), .int(message))
    }

    /// Removes and returns the start that waited longest.
    func takeStartWait(device: Int64) throws(StoreError) -> Int64? {
        let message = try database.first(
            "SELECT message FROM start_wait WHERE device = ? ORDER BY message LIMIT 1", .int(device)
        ) { $0.int(0) }
        guard let message else { return nil }
        try removeStartWait(device: device, message: message)
        return message
    }
}
