internal import CSQLite

/// One open SQLite connection, closed when the value goes away.
@safe struct Connection: ~Copyable {
    private let pointer: OpaquePointer

    /// Opens the file read and write, making it if need be.
    ///
    /// The connection takes no mutexes: it belongs to one thread.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - isReadOnly: whether it is only to be looked at; then it must be there.
    /// - Throws: `StoreError` if it cannot be opened.
    init(path: String, isReadOnly: Bool = false) throws(StoreError) {
        var opened: OpaquePointer?
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let handle = unsafe opened else {
            throw StoreError(call: "open", extendedCode: result, message: "out of memory")
        }
        guard result == SQLITE_OK else {
            let message = unsafe String(cString: sqlite3_errmsg(handle))
            let systemError = unsafe sqlite3_system_errno(handle)
            unsafe sqlite3_close_v2(handle)
            throw StoreError(
                call: "open", extendedCode: result, systemError: systemError, message: "\(message): \(path)")
        }
        unsafe pointer = handle
    }

    deinit { unsafe sqlite3_close_v2(pointer) }

    var isReadOnly: Bool { unsafe sqlite3_db_readonly(pointer, "main") == 1 }
    /// False between BEGIN and its end, also an end that SQLite chose by itself after an error.
    var isAutocommit: Bool { unsafe sqlite3_get_autocommit(pointer) != 0 }
    var changes: Int { unsafe Int(sqlite3_changes64(pointer)) }
    var lastInsertedRowID: Int64 { unsafe sqlite3_last_insert_rowid(pointer) }

    func setBusyTimeout(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(pointer, milliseconds)
    }

    /// Prepares exactly one statement.
    func prepare(_ sql: String) throws(StoreError) -> Statement {
        var text = sql
        var made: OpaquePointer?
        var rest = 0
        let result = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                var tail: UnsafePointer<CChar>?
                let result = unsafe sqlite3_prepare_v3(
                    pointer, characters.baseAddress, Int32(characters.count),
                    UInt32(SQLITE_PREPARE_PERSISTENT), &made, &tail)
                if let tail = unsafe tail, let start = characters.baseAddress {
                    rest = unsafe tail - start
                }
                return result
            }
        }
        guard result == SQLITE_OK else { throw failure("prepare", result, sql: sql) }
        guard let handle = unsafe made else {
            throw StoreError(
                call: "prepare", extendedCode: SQLITE_MISUSE, message: "no statement in the text", sql: sql)
        }
        let statement = unsafe Statement(handle: StatementHandle(unsafe: handle), sql: sql)
        guard sql.utf8.dropFirst(rest).allSatisfy({ $0 <= 0x20 || $0 == UInt8(ascii: ";") }) else {
            throw StoreError(
                call: "prepare", extendedCode: SQLITE_MISUSE, message: "more than one statement", sql: sql)
        }
        return statement
    }

    /// Runs a script of any number of statements, none of which has placeholders.
    func execute(script: String) throws(StoreError) {
        let result = unsafe sqlite3_exec(pointer, script, nil, nil, nil)
        guard result == SQLITE_OK else { throw failure("execute", result, sql: script) }
    }

    func failure(_ call: String, _ result: Int32, sql: String?) -> StoreError {
        // SQLite keeps the last errno for good; it belongs to this failure only when input or output failed.
        let primary = result & 0xFF
        let hasSystemError = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL
        return unsafe StoreError(
            call: call, extendedCode: result,
            systemError: hasSystemError ? sqlite3_system_errno(pointer) : 0,
            message: String(cString: sqlite3_errmsg(pointer)), sql: sql)
    }
}
