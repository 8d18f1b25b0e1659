import Contracts
import Store

extension Ledger {
    /// What the clock showed when a turn last kept it, milliseconds since 1970; nil before the first.
    func clock() throws(StoreError) -> Int64? {
        try database.first("SELECT value FROM setting WHERE name = 'clock'") { $0.int(0) }
    }

    /// How far the clock was from the monotonic one then, in milliseconds; nil if the host has begun anew since, or that
    /// is not known.
    func clockOffset() throws(StoreError) -> Int64? {
        guard let boot else { return nil }
        return try database.first(
            """
            SELECT value FROM setting WHERE name = 'clockOffset'
                AND EXISTS (SELECT 1 FROM setting WHERE name = 'boot' AND value = ?)
            """, .int(boot)
        ) { $0.int(0) }
    }

    func keep(clock now: Moment) throws(StoreError) {
        try keep("clock", now.wall)
        guard let boot else { return }
        try keep("clockOffset", now.wall - now.monotonic)
        try keep("boot", boot)
    }

    private func keep(_ name: String, _ value: Int64) throws(StoreError) {
        try database.run(
            """
            INSERT INTO setting (name, value) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, .text(name), .int(value))
    }

    /// Moves the instants that open deliveries, paces and budgets wait for.
    ///
    /// It goes through all participants and devices, which takes about a second for a million.
    func moveWaits(by step: Int64, former: Int64) throws(StoreError) {
        if step < 0 {
            // What is out, and may be lost, may tell a second of the former clock; a phone ignores what does not come later.
            try database.run(
                """
                UPDATE participant SET last_wire = max(last_wire, ?1)
                WHERE number IN (SELECT participant FROM delivery WHERE place = ?2)
                """, .int(former / 1000), .int(Place.handedOver))
        }
        // What is over by the former clock may lie ahead of the new one.
        let over = min(former, former + step)
        try database.run(
            """
            UPDATE delivery SET at = at + ?1,
                not_before = CASE WHEN not_before > 0 THEN not_before + ?1 ELSE 0 END,
                retry_at = CASE WHEN retry_at > 0 THEN retry_at + ?1 ELSE 0 END,
                send_before = CASE WHEN send_before > 0 THEN send_before + ?1 ELSE 0 END,
                sent_at = CASE WHEN sent_at > 0 THEN sent_at + ?1 ELSE 0 END
            WHERE message IN (SELECT number FROM message WHERE settled_at IS NULL) AND state < ?2
            """, .int(step), .int(DeliveryState.delivered.rawValue))
        // What was handed over once more and has its outcome from before that lies in the same place.
        try database.run(
            "UPDATE delivery SET at = at + ?1 WHERE place = ?2 AND state >= ?3", .int(step),
            .int(Place.handedOver), .int(DeliveryState.delivered.rawValue))
        try database.run(
            """
            UPDATE participant SET full_at = CASE WHEN full_at > ?2 THEN full_at + ?1 ELSE full_at END,
                five_at = CASE WHEN five_at > ?2 THEN five_at + ?1 ELSE five_at END
            WHERE full_at > ?2 OR five_at > ?2
            """, .int(step), .int(over))
        try database.run(
            "UPDATE device SET start_full_at = start_full_at + ?1 WHERE start_full_at > ?2", .int(step),
            .int(over))
        try database.run(
            "UPDATE gate SET since = since + ?1, trial_at = trial_at + ?1 WHERE fault IS NOT NULL", .int(step)
        )
        try database.run(
            "UPDATE run SET channel_held_until = channel_held_until + ?1 WHERE channel_held_until > ?2",
            .int(step), .int(over))
    }
}
