internal import CSQLite

/// The row that a query stands on, readable until the closure it was handed to returns.
///
/// Columns count from 0. Reading a column as another type converts it as SQLite does; NULL reads as 0, as an empty
/// text or as empty bytes, so a column that can be NULL is read through the `optional` forms.
@safe public struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(unsafe statement: OpaquePointer) { unsafe self.statement = statement }

    /// How many columns the row has.
    public var count: Int { unsafe Int(sqlite3_column_count(statement)) }

    /// Tells whether the column holds NULL.
    public func isNull(_ column: Int) -> Bool {
        unsafe sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
    }

    /// Reads an integer.
    public func int(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(statement, Int32(column))
    }

    /// Reads an integer, or nil where the column holds NULL.
    public func optionalInt(_ column: Int) -> Int64? {
        isNull(column) ? nil : int(column)
    }

    /// Reads a truth value: false for 0 and NULL.
    public func bool(_ column: Int) -> Bool { int(column) != 0 }

    /// Reads a double.
    public func double(_ column: Int) -> Double {
        unsafe sqlite3_column_double(statement, Int32(column))
    }

    /// Reads text, whole also when it contains NUL characters.
    public func text(_ column: Int) -> String {
        guard let start = unsafe sqlite3_column_text(statement, Int32(column)) else { return "" }
        // The order matters: the length is that of the form last asked for.
        let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Reads text, or nil where the column holds NULL.
    public func optionalText(_ column: Int) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// Reads bytes.
    public func blob(_ column: Int) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(statement, Int32(column)) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Reads bytes, or nil where the column holds NULL.
    public func optionalBlob(_ column: Int) -> [UInt8]? {
        isNull(column) ? nil : blob(column)
    }
}
