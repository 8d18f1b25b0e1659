import Contracts
import Store

/// What is known of broadcast channels: APNs keeps them, and this table remembers how each was made.
///
/// A channel that was made while the answer was lost, or elsewhere, is not in it; APNs' list shows it.
extension Journal {
    /// A channel of an application.
    func channel(_ id: String, application: String) throws(StoreError) -> Channel? {
        try database.first(
            "SELECT channel, environment, isStored FROM channels WHERE application = ? AND channel = ?",
            .text(application), .text(id)
        ) { row throws(StoreError) in try Journal.channel(row, 0) } ?? nil
    }

    /// Remembers a channel.
    func note(_ channel: Channel, application: String, atMilliseconds now: Int64) throws(StoreError) {
        try database.run(
            """
            INSERT INTO channels (application, channel, environment, isStored, notedAt) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (application, channel) DO UPDATE SET environment = excluded.environment,
                isStored = excluded.isStored
            """, .text(application), .text(channel.id), .text(channel.environment.rawValue),
            Value(channel.isStored), .int(now))
    }

    /// Forgets a channel.
    func forgetChannel(_ id: String, application: String) throws(StoreError) {
        try database.run(
            "DELETE FROM channels WHERE application = ? AND channel = ?", .text(application), .text(id))
    }

    /// The newest run that is bound to a channel and goes on as far as anybody has said.
    func openRun(channel: String, application: String) throws(StoreError) -> Run? {
        let run = try database.first(
            """
            SELECT run FROM runs WHERE application = ? AND channel = ? AND endedBy IS NULL AND emptyBy IS NULL
            ORDER BY run DESC LIMIT 1
            """, .text(application), .text(channel)
        ) { $0.int(0) }
        guard let run else { return nil }
        return try self.run(run)
    }

    /// The newest run of an activity that is bound to a channel and goes on as far as anybody has said.
    func openActivity(channel: String, application: String) throws(StoreError) -> Run? {
        let run = try database.first(
            """
            SELECT run FROM runs WHERE application = ? AND channel = ? AND space = ? AND endedBy IS NULL
                AND emptyBy IS NULL ORDER BY run DESC LIMIT 1
            """, .text(application), .text(channel), .int(ActivityName.Space.id.rawValue)
        ) { $0.int(0) }
        guard let run else { return nil }
        return try self.run(run)
    }

    /// Reads the three columns of a channel; nil where there is none.
    static func channel(_ row: borrowing Row, _ column: Int) throws(StoreError) -> Channel? {
        guard let id = row.optionalText(column) else { return nil }
        guard let environment = APNsEnvironment(rawValue: row.text(column + 1)) else {
            throw StoreError(call: "decode", message: "a channel has an unknown environment")
        }
        return Channel(id: id, environment: environment, isStored: row.bool(column + 2))
    }
}
