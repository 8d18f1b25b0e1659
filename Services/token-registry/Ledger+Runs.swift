import Store

extension RunFields {
    fileprivate init(_ row: borrowing Row) {
        number = row.int(0)
        application = row.text(1)
        activity = row.text(2)
        startedAt = row.int(3)
        removesAt = row.int(4)
        start = row.optionalInt(5)
        isStartComplete = row.bool(6)
        end = row.optionalInt(7)
        participants = Int(row.int(8))
        open = Int(row.int(9))
        waiting = Int(row.int(10))
        isEmptySaid = row.bool(11)
        registration = row.int(12)
        channel = row.optionalText(13).map { [isStored = row.bool(14), participant = row.int(15)] id in
            ChannelBinding(id: id, isStored: isStored, participant: participant)
        }
        channel?.members = Int(row.int(16))
        channel?.olderOut = Int(row.int(17))
        channel?.newestOut = Int(row.int(18))
        channel?.heldUntil = row.int(19)
    }
}

extension Ledger {
    func run(_ number: Int64) throws(StoreError) -> RunFields? {
        try database.first(
            """
            SELECT number, application, activity, started_at, removes_at, start, start_complete, "end",
                participants, open, waiting, empty_said, registration, channel, channel_stored,
                channel_participant, channel_members, channel_older_out, channel_newest_out, channel_held_until
            FROM run WHERE number = ?
            """, .int(number)
        ) { RunFields($0) }
    }

    func save(_ run: RunFields) throws(StoreError) {
        try database.run(
            """
            INSERT INTO run (number, application, activity, started_at, removes_at, start, start_complete, "end",
                participants, open, waiting, empty_said, registration, channel, channel_stored,
                channel_participant, channel_members, channel_older_out, channel_newest_out,
                channel_held_until)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (number) DO UPDATE SET removes_at = excluded.removes_at, start = excluded.start,
                start_complete = excluded.start_complete, "end" = excluded."end",
                participants = excluded.participants, open = excluded.open,
                waiting = excluded.waiting, empty_said = excluded.empty_said, registration = excluded.registration,
                channel = excluded.channel, channel_stored = excluded.channel_stored,
                channel_participant = excluded.channel_participant, channel_members = excluded.channel_members,
                channel_older_out = excluded.channel_older_out, channel_newest_out = excluded.channel_newest_out,
                channel_held_until = excluded.channel_held_until
            """, .int(run.number), .text(run.application), .text(run.activity), .int(run.startedAt),
            .int(run.removesAt), Value(run.start), Value(run.isStartComplete), Value(run.end),
            Value(run.participants), Value(run.open), Value(run.waiting),
            Value(run.isEmptySaid), .int(run.registration), Value(run.channel?.id),
            Value(run.channel?.isStored ?? false), .int(run.channel?.participant ?? 0),
            Value(run.channel?.members ?? 0), Value(run.channel?.olderOut ?? 0),
            Value(run.channel?.newestOut ?? 0), .int(run.channel?.heldUntil ?? 0))
    }

    /// The run that is to be forgotten first.
    func nextRemoval() throws(StoreError) -> (run: Int64, at: Int64)? {
        try database.first("SELECT number, removes_at FROM run ORDER BY removes_at LIMIT 1") {
            ($0.int(0), $0.int(1))
        }
    }

    func removeRun(_ number: Int64) throws(StoreError) {
        try database.run("DELETE FROM run WHERE number = ?", .int(number))
    }
}
