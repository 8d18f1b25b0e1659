import Contracts
import Crypto
import Store

extension Journal {
    /// What became of a filter that is to be kept.
    enum FilterKeeping: Equatable {
        /// It is, under this code.
        case kept(code: String)
        /// There is one of its name that has not expired.
        case nameTaken
        /// Its application has as many as it may, or as large ones.
        case full
    }

    /// Keeps a filter under its name; those of its application that have expired make room.
    func insert(
        _ definition: PushwooshFilters.Definition, application: String, today: String, _ limits: IngestLimits
    ) throws(StoreError) -> FilterKeeping {
        try database.run(
            "DELETE FROM filters WHERE application = ? AND expiresOn < ?", .text(application), .text(today))
        let expression = try encoded(definition.filter)
        let others = try filterUse(of: application)
        guard others.count < limits.filtersMax,
            others.bytes + definition.name.utf8.count + expression.utf8.count <= limits.filterBytesMax
        else { return .full }
        let code = try freshCode(application, definition.name)
        try database.run(
            """
            INSERT INTO filters (application, name, code, expression, expiresOn) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (application, name) DO NOTHING
            """, .text(application), .text(definition.name), .text(code), .text(expression),
            Value(definition.expiresOn))
        return database.changes > 0 ? .kept(code: code) : .nameTaken
    }

    /// How many filters an application has, and how many bytes they hold together.
    private func filterUse(of application: String) throws(StoreError) -> (count: Int, bytes: Int) {
        try database.first(
            """
            SELECT count(*), coalesce(sum(length(CAST(name AS BLOB)) + length(CAST(expression AS BLOB))), 0)
            FROM filters WHERE application = ?
            """, .text(application)
        ) { (Int($0.int(0)), Int($0.int(1))) } ?? (0, 0)
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
