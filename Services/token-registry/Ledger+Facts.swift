import Contracts
import Store

extension Ledger {
    /// Has facts be numbered above a number: of those about one token or run the highest holds, and the journal may have
    /// seen those of a former ledger.
    func numberFacts(from number: Int64) throws(StoreError) {
        try database.run(
            "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'fact' AND seq < ?1", .int(number))
        try database.run(
            """
            INSERT INTO sqlite_sequence (name, seq)
            SELECT 'fact', ?1 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'fact')
            """, .int(number))
    }

    /// Keeps a fact and numbers it.
    func addFact(
        _ kind: Fact.Kind, application: String, token: String?, run: Int64?, registration: Int64
    ) throws(StoreError) -> Fact {
        try database.run(
            "INSERT INTO fact (application, kind, token, run, registration) VALUES (?, ?, ?, ?, ?)",
            .text(application), .text(kind.rawValue), Value(token), Value(run), .int(registration))
        var fact = Fact(
            number: database.lastInsertedRowID, application: application, kind: kind,
            registrationSequence: registration)
        fact.token = token
        fact.run = run
        return fact
    }

    /// The facts that ingest has not noted, above a number.
    func facts(after number: Int64, limit: Int) throws(StoreError) -> [Fact] {
        try database.all(
            """
            SELECT number, application, kind, token, run, registration FROM fact WHERE number > ?
            ORDER BY number LIMIT ?
            """, .int(number), Value(limit)
        ) { row throws(StoreError) in
            var fact = Fact(
                number: row.int(0), application: row.text(1), kind: try row.word(2),
                registrationSequence: row.int(5))
            fact.token = row.optionalText(3)
            fact.run = row.optionalInt(4)
            return fact
        }
    }

    func removeFact(_ number: Int64) throws(StoreError) {
        try database.run("DELETE FROM fact WHERE number = ?", .int(number))
    }
}
