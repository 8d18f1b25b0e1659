internal import CSQLite

extension Database {
    /// Runs a statement to its end.
    ///
    /// - Throws: `StoreError`; the statement has then changed nothing.
    public func run(_ sql: SQL, _ values: Value...) throws(StoreError) {
        try run(sql, values: values)
    }

    /// Runs a statement to its end, with values in an array.
    ///
    /// - Throws: `StoreError`; the statement has then changed nothing.
    public func run(_ sql: SQL, values: [Value]) throws(StoreError) {
        try each(sql, values) { _ throws(StoreError) in true }
    }

    /// Hands each row of the result to the closure.
    ///
    /// The closure may use the database, but not change the rows that it is walking.
    public func query(
        _ sql: SQL, _ values: Value..., row: (borrowing Row) throws(StoreError) -> Void
    ) throws(StoreError) {
        try query(sql, values: values, row: row)
    }

    /// Hands each row of the result to the closure, with values in an array.
    public func query(
        _ sql: SQL, values: [Value], row: (borrowing Row) throws(StoreError) -> Void
    ) throws(StoreError) {
        try each(sql, values) { current throws(StoreError) in
            try row(current)
            return true
        }
    }

    /// Reads the first row of the result, or nil where there is none.
    public func first<T>(
        _ sql: SQL, _ values: Value..., row: (borrowing Row) throws(StoreError) -> T
    ) throws(StoreError) -> T? {
        var found: T?
        try each(sql, values) { current throws(StoreError) in
            found = try row(current)
            return false
        }
        return found
    }

    /// Reads all rows of the result into an array.
    public func all<T>(
        _ sql: SQL, _ values: Value..., row: (borrowing Row) throws(StoreError) -> T
    ) throws(StoreError) -> [T] {
        var found: [T] = []
        try each(sql, values) { current throws(StoreError) in
            found.append(try row(current))
            return true
        }
        return found
    }

    /// Steps through the result while the closure says so, and always resets the statement.
    private func each(
        _ sql: SQL, _ values: [Value], _ goOn: (borrowing Row) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if let transactionFailure { throw transactionFailure }
        let statement = try statement(for: sql)
        statement.isInUse = true
        defer {
            statement.reset()
            statement.isInUse = false
        }
        try bind(values, to: statement)
        while true {
            switch statement.step() {
            case SQLITE_DONE: return
            case SQLITE_ROW: guard try statement.withRow(goOn) else { return }
            case let result: throw failed("step", result, statement)
            }
        }
    }

    private func bind(_ values: [Value], to statement: Statement) throws(StoreError) {
        guard values.count == statement.parameterCount else {
            throw StoreError(
                call: "bind", extendedCode: SQLITE_MISUSE,
                message: "\(values.count) values for \(statement.parameterCount) placeholders",
                sql: statement.sql)
        }
        if let result = statement.bind(values) {
            throw connection.failure("bind", result, sql: statement.sql)
        }
    }

    /// Notes the end of a transaction that SQLite rolled back by itself, as it may when the disk is full.
    private func failed(_ call: String, _ result: Int32, _ statement: Statement) -> StoreError {
        let failure = connection.failure(call, result, sql: statement.sql)
        needsRoom = needsRoom || failure.isFull
        needsProof = needsProof || failure.isOfWriting
        if isInTransaction, connection.isAutocommit { transactionFailure = failure }
        return failure
    }
}
