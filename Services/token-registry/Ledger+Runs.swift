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
    }
}

extension Ledger {
    func run(_ number: Int64) throws(StoreError) -> RunFields? {
        try database.first(
            """
            SELECT number, application, activity, started_at, removes_at, start, start_complete, "end",
                participants, open, waiting, empty_said, registration FROM run WHERE number = ?
            """, .int(number)
        ) { RunFields($0) }
    }

    func save(_ run: RunFields) throws(StoreError) {
        try database.run(
            """
            INSERT INTO run (number, application, activity, started_at, removes_at, start, start_complete, "end",
                participants, open, waiting, empty_said, registration)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (number) DO UPDATE SET removes_at = excluded.removes_at, start = excluded.start,
                start_complete = excluded.start_complete, "end" = excluded."end",
                participants = excluded.participants, open = excluded.open,
                waiting = excluded.waiting, empty_said = excluded.empty_said, registration = excluded.registration
            """, .int(run.number), .text(run.application), .text(run.activity), .int(run.startedAt),
            .int(run.removesAt), Value(run.start), Value(run.isStartComplete), Value(run.end),
            Value(run.participants), Value(run.open), Value(run.waiting),
            Value(run.isEmptySaid), .int(run.registration))
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
