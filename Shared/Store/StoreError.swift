internal import CSQLite
internal import Glibc

/// A failure of the store, with the call that met it and SQLite's own codes.
///
/// It holds the SQL but never a bound value, so that it can be logged as it is.
public struct StoreError: Error, Equatable, Sendable {
    /// What was being done, for example `step` or `open`.
    public let call: String
    /// SQLite's primary result code, for example 13 for a full disk.
    public let code: Int32
    /// SQLite's extended result code, for example 2067 for a unique constraint.
    public let extendedCode: Int32
    /// The `errno` behind an input or output failure; 0 where there is none.
    public let systemError: Int32
    /// What SQLite says about it.
    public let message: String
    /// The statement as it was prepared, with placeholders in place of values.
    public let sql: String?

    /// Describes a failure by its extended code.
    ///
    /// Callers make one of these themselves when a row holds what they cannot read.
    ///
    /// - Parameters:
    ///   - call: what was being done.
    ///   - extendedCode: SQLite's extended result code; generic failure (1) by default.
    ///   - systemError: the `errno` behind it, if any.
    ///   - message: what went wrong, without values.
    ///   - sql: the statement, with placeholders in place of values.
    public init(
        call: String, extendedCode: Int32 = 1, systemError: Int32 = 0, message: String, sql: String? = nil
    ) {
        self.call = call
        self.code = extendedCode & 0xFF
        self.extendedCode = extendedCode
        self.systemError = systemError
        self.message = message
        self.sql = sql
    }

    /// The disk, the quota or the page limit is exhausted; room makes it work again.
    public var isFull: Bool {
        code == SQLITE_FULL || (isInputOutput && (systemError == ENOSPC || systemError == EDQUOT))
    }

    /// Another connection holds the lock; the same call may work later.
    public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

    /// The file is damaged or is not a database.
    public var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// The file, its directory or the connection does not allow writing.
    public var isReadOnly: Bool { code == SQLITE_READONLY || systemError == EROFS }

    /// Nothing can be written, though it may well be read.
    var isOfWriting: Bool { isFull || isReadOnly || code == SQLITE_IOERR }

    /// A constraint (unique, not null, check, type) refused the row.
    public var isConstraint: Bool { code == SQLITE_CONSTRAINT }

    private var isInputOutput: Bool { code == SQLITE_IOERR || code == SQLITE_CANTOPEN }
}

extension StoreError: CustomStringConvertible {
    /// One line with call, codes, message and SQL, fit for a log.
    public var description: String {
        var line = "store: \(call): \(message) (code \(extendedCode)"
        if systemError != 0 { line += ", errno \(systemError)" }
        line += ")"
        if let sql { line += " in: \(sql)" }
        return line
    }
}
