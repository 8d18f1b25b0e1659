/// A look at a store from outside, while the service that it belongs to may be at work.
///
/// It takes no lock that a writer would wait for. While it reads, the write-ahead log cannot be copied back whole.
public struct StoreInspection: Equatable, Sendable {
    /// How closely it is looked at.
    public enum Depth: Sendable {
        /// Only whether it is a store, and which schema it has.
        case schema
        /// Every page, which takes up to a second for each 100 MB.
        case pages
        /// Every page, and indexes compared with their tables.
        case indexes
    }

    /// The version of the schema.
    public let version: Int
    /// What is damaged; empty for a sound store.
    public let damage: [String]

    /// Looks at a file.
    ///
    /// - Parameters:
    ///   - path: the store.
    ///   - depth: how closely.
    /// - Throws: `StoreError` when it is not there, cannot be read or is not a database.
    public init(_ path: String, depth: Depth) throws(StoreError) {
        let database: Database
        do {
            database = try Database(lookingAt: path)
            version = try database.first("PRAGMA user_version") { Int($0.int(0)) } ?? 0
        } catch {
            // Some damage does not let the look begin; that is its finding.
            guard error.isCorrupt else { throw error }
            (version, damage) = (0, [error.message])
            return
        }
        damage =
            switch depth {
            case .schema: []
            case .pages: try database.damage("PRAGMA quick_check")
            case .indexes: try database.damage("PRAGMA integrity_check")
            }
    }
}
