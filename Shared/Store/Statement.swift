internal import CSQLite

/// One prepared statement, finalised when the value goes away.
@safe struct StatementHandle: ~Copyable {
    let pointer: OpaquePointer

    init(unsafe pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe sqlite3_finalize(pointer) }
}

/// A prepared statement as the cache keeps it: with its text, and whether a query stands on it.
@safe final class Statement {
    let sql: String
    let parameterCount: Int
    var isInUse = false
    private let handle: StatementHandle

    init(handle: consuming StatementHandle, sql: String) {
        parameterCount = unsafe Int(sqlite3_bind_parameter_count(handle.pointer))
        self.sql = sql
        self.handle = handle
    }

    /// Binds the values from the first placeholder on; nil when all went well, else SQLite's code.
    func bind(_ values: [Value]) -> Int32? {
        var index: Int32 = 0
        for value in values {
            index += 1
            let result = bind(value, at: index)
            if result != SQLITE_OK { return result }
        }
        return nil
    }

    /// Moves to the next row; `SQLITE_ROW`, `SQLITE_DONE` or an error.
    func step() -> Int32 { unsafe sqlite3_step(handle.pointer) }

    /// Makes the statement ready for its next use and lets go of what was bound.
    ///
    /// A failure that reset reports is that of the last step, which has been reported already.
    func reset() {
        unsafe sqlite3_reset(handle.pointer)
        if parameterCount > 0 { unsafe sqlite3_clear_bindings(handle.pointer) }
    }

    /// Hands the current row to the closure.
    func withRow<T, E: Error>(_ body: (borrowing Row) throws(E) -> T) throws(E) -> T {
        let row = unsafe Row(unsafe: handle.pointer)
        return try body(row)
    }

    private func bind(_ value: Value, at index: Int32) -> Int32 {
        let statement = unsafe handle.pointer
        switch value {
        case .null:
            return unsafe sqlite3_bind_null(statement, index)
        case .int(let integer):
            return unsafe sqlite3_bind_int64(statement, index, integer)
        case .double(let double):
            return unsafe sqlite3_bind_double(statement, index, double)
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                    unsafe liveline_bind_text(
                        statement, index, characters.baseAddress, UInt64(characters.count))
                }
            }
        case .blob(let blob):
            return unsafe blob.withUnsafeBytes { bytes in
                unsafe liveline_bind_blob(statement, index, bytes.baseAddress, UInt64(bytes.count))
            }
        }
    }
}
