import Store

/// Reads the devices of users, a batch at a time: one name may stand for a million of them.
///
/// They are those that a user has when his devices are read; one that changes hands meanwhile may be met twice, or not.
struct UserDevices {
    /// The next devices of a user: in the index on users they stand in the order of their numbers.
    static let next = SQL(nextText)
    static let nextText = """
        SELECT id FROM devices INDEXED BY devices_user WHERE application = ? AND user = ? AND id > ?
            AND \(AudienceReading.reachable) ORDER BY id LIMIT ?
        """

    private let application: Int64
    private let joinedMax: Int64
    private var users: ArraySlice<String>
    /// The last device of the first user that was read.
    private var last = Int64.min
    /// What was read and not taken out yet: one device after a batch, or none.
    private var ahead: [Int64] = []

    /// Begins with the first user.
    ///
    /// - Parameters:
    ///   - users: their names.
    ///   - application: the application's number.
    ///   - joinedMax: the sequence of the message: devices that were counted in later are left out.
    init(of users: [String], application: Int64, joinedMax: Int64) {
        var seen: Set<String> = []
        self.users = users.filter { seen.insert($0).inserted }[...]
        self.application = application
        self.joinedMax = joinedMax
    }

    /// Whether all have been taken out.
    var isAtEnd: Bool { users.isEmpty && ahead.isEmpty }

    /// How many devices are held.
    var heldCount: Int { ahead.count }

    /// Takes out the next devices, in the order of their numbers.
    ///
    /// - Throws: `StoreError` if the store fails.
    mutating func take(_ countMax: Int, in database: Database) throws(StoreError) -> [Int64] {
        // One more, or it could not be said whether these are the last.
        while ahead.count <= countMax, let user = users.first {
            let wanted = countMax + 1 - ahead.count
            let found = try read(user, wanted, in: database)
            ahead += found
            last = found.last ?? last
            guard found.count < wanted else { continue }
            users.removeFirst()
            last = .min
        }
        let taken = ahead.prefix(countMax).sorted()
        ahead.removeFirst(taken.count)
        return taken
    }

    private func read(_ user: String, _ limit: Int, in database: Database) throws(StoreError) -> [Int64] {
        try database.all(
            UserDevices.next, .int(application), .text(user), .int(last), .int(joinedMax), .int(Int64(limit))
        ) { $0.int(0) }
    }
}
