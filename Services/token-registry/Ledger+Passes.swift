import Contracts
import Store

extension Ledger {
    /// Notes one batch of a pass.
    ///
    /// - Returns: whether every batch of that pass is there now.
    func note(_ batch: Batch) throws(StoreError) -> Bool {
        let key: [Value] = [.int(batch.command.sequence), .int(batch.pass.epoch), .int(batch.pass.number)]
        try database.run(
            "INSERT OR IGNORE INTO batch (message, epoch, number, place) VALUES (?, ?, ?, ?)",
            values: key + [Value(batch.index)])
        if database.changes > 0 {
            try database.run(
                """
                INSERT INTO pass (message, epoch, number, batches, last) VALUES (?, ?, ?, 1, ?)
                ON CONFLICT (message, epoch, number)
                DO UPDATE SET batches = batches + 1, last = coalesce(excluded.last, last)
                """, values: key + [batch.last ? Value(batch.index) : .null])
        }
        let complete = try database.first(
            "SELECT batches = last + 1 FROM pass WHERE message = ? AND epoch = ? AND number = ?",
            key[0], key[1], key[2]
        ) { $0.bool(0) }
        return complete ?? false
    }

    func removePasses(message: Int64) throws(StoreError) {
        try database.run("DELETE FROM batch WHERE message = ?", .int(message))
        try database.run("DELETE FROM pass WHERE message = ?", .int(message))
    }
}
