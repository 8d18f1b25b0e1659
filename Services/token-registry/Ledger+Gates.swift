import Contracts
import Store

extension Ledger {
    func gates() throws(StoreError) -> [GateFields] {
        try database.all(
            """
            SELECT application, environment, bad_tokens, fault, since, trial_delay, trial_at, trial_message,
                trial_device, held, held_sequence FROM gate ORDER BY application, environment
            """
        ) { row throws(StoreError) in
            var gate = GateFields(pause: Pause(application: row.text(0), environment: try row.word(1)))
            gate.badTokens = Int(row.int(2))
            gate.fault = row.optionalText(3)
            gate.since = row.int(4)
            gate.trialDelay = row.int(5)
            gate.trialAt = row.int(6)
            if !row.isNull(7) { gate.trial = PushID(message: row.int(7), device: row.int(8)) }
            gate.isHeld = row.bool(9)
            gate.heldSequence = row.int(10)
            return gate
        }
    }

    func save(_ gate: GateFields) throws(StoreError) {
        try database.run(
            """
            INSERT OR REPLACE INTO gate (application, environment, bad_tokens, fault, since, trial_delay, trial_at,
                trial_message, trial_device, held, held_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .text(gate.pause.application), .text(gate.pause.environment.rawValue),
            Value(gate.badTokens),
            Value(gate.fault), .int(gate.since), .int(gate.trialDelay), .int(gate.trialAt),
            Value(gate.trial?.message), Value(gate.trial?.device), Value(gate.isHeld), .int(gate.heldSequence)
        )
    }

    // MARK: Tokens that were refused since the last success

    func noteBadToken(_ token: String, _ pause: Pause, at now: Int64) throws(StoreError) {
        try database.run(
            """
            INSERT OR REPLACE INTO bad_token (application, environment, token, noted_at) VALUES (?, ?, ?, ?)
            """, .text(pause.application), .text(pause.environment.rawValue), .text(token), .int(now))
    }

    /// Removes and returns the tokens noted.
    func takeBadTokens(_ pause: Pause) throws(StoreError) -> [(token: String, notedAt: Int64)] {
        let noted = try database.all(
            "SELECT token, noted_at FROM bad_token WHERE application = ? AND environment = ? ORDER BY token",
            .text(pause.application), .text(pause.environment.rawValue)
        ) { ($0.text(0), $0.int(1)) }
        try database.run(
            "DELETE FROM bad_token WHERE application = ? AND environment = ?", .text(pause.application),
            .text(pause.environment.rawValue))
        return noted
    }

    // MARK: Applications as integers

    func applications() throws(StoreError) -> [(number: Int64, code: String)] {
        try database.all("SELECT number, code FROM application ORDER BY number") { ($0.int(0), $0.text(1)) }
    }

    func addApplication(_ code: String) throws(StoreError) -> Int64 {
        try database.run("INSERT INTO application (code) VALUES (?)", .text(code))
        return database.lastInsertedRowID
    }
}
