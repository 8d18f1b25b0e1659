import Contracts
import Crypto
import Store

extension Journal {
    /// Keeps a filter under its name.
    ///
    /// - Returns: its code; nil if the name is taken by one that has not expired.
    func insert(_ definition: PushwooshFilters.Definition, application: String, today: String)
        throws(StoreError)
        -> String?
    {
        try database.run(
            "DELETE FROM filters WHERE application = ? AND name = ? AND expiresOn < ?", .text(application),
            .text(definition.name), .text(today))
        let code = try freshCode(application, definition.name)
        try database.run(
            """
            INSERT INTO filters (application, name, code, expression, expiresOn) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (application, name) DO NOTHING
            """, .text(application), .text(definition.name), .text(code),
            .text(try encoded(definition.filter)),
            Value(definition.expiresOn))
        return database.changes > 0 ? code : nil
    }

    /// A code such as `52551-F2F42` that no filter has.
    private func freshCode(_ application: String, _ name: String) throws(StoreError) -> String {
        var attempt = 0
        while true {
            let digits = SHA256.hex("\(application)\n\(name)\n\(attempt)").uppercased().prefix(10)
            let code = "\(digits.prefix(5))-\(digits.suffix(5))"
            let isTaken = try database.first("SELECT 1 FROM filters WHERE code = ?", .text(code)) { _ in true
            }
            guard isTaken == true else { return code }
            attempt += 1
        }
    }

    /// The expression of a filter that has not expired.
    func filter(name: String, application: String, today: String) throws(StoreError) -> Filter? {
        try database.first(
            """
            SELECT expression FROM filters WHERE application = ? AND name = ?
                AND (expiresOn IS NULL OR expiresOn >= ?)
            """, .text(application), .text(name), .text(today)
        ) { row throws(StoreError) in try value(Filter.self, row.text(0)) }
    }

    /// The same by its code.
    func filter(code: String, application: String, today: String) throws(StoreError) -> Filter? {
        try database.first(
            """
            SELECT expression FROM filters WHERE application = ? AND code = ? AND (expiresOn IS NULL OR expiresOn >= ?)
            """, .text(application), .text(code.uppercased()), .text(today)
        ) { row throws(StoreError) in try value(Filter.self, row.text(0)) }
    }
}

/// A filter with what it is called.
struct KeptFilter {
    var code: String
    var name: String
    var filter: Filter
    /// `YYYY-MM-DD`, the last day on which it is there.
    var expiresOn: String?
}

extension Journal {
    /// The filters of an application that have not expired, by name.
    func filters(application: String, today: String) throws(StoreError) -> [KeptFilter] {
        var filters: [KeptFilter] = []
        try database.query(
            """
            SELECT code, name, expression, expiresOn FROM filters
            WHERE application = ? AND (expiresOn IS NULL OR expiresOn >= ?) ORDER BY name
            """, .text(application), .text(today)
        ) { row throws(StoreError) in
            filters.append(
                KeptFilter(
                    code: row.text(0), name: row.text(1), filter: try value(Filter.self, row.text(2)),
                    expiresOn: row.optionalText(3)))
        }
        return filters
    }

    /// Takes a filter away; messages that were accepted with it keep its expression.
    ///
    /// - Returns: whether there was one.
    func deleteFilter(name: String, application: String) throws(StoreError) -> Bool {
        try database.run(
            "DELETE FROM filters WHERE application = ? AND name = ?", .text(application), .text(name))
        return database.changes > 0
    }
}
