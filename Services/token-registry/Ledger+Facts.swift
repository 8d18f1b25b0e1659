import Contracts
import Store

extension Ledger {
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
