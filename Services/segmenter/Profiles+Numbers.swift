import Store

/// The numbers by which applications, devices and tags are stored.
enum DeviceNumber {
    /// How many low bits count the devices of one application.
    private static let bits: Int64 = 40

    /// What the numbers of an application's devices are above.
    static func base(ofApplication application: Int64) -> Int64 { application << bits }

    /// The application that a device belongs to.
    static func application(ofDevice device: Int64) -> Int64 { device >> bits }
}

/// Numbers that are remembered, so that a registration does not look each of them up.
struct KnownNumbers {
    /// How many names of tags are remembered.
    static let tagsMax = 10_000

    var applications: [String: Int64] = [:]
    private(set) var tags: [TagName: Int64] = [:]

    /// A tag of an application.
    struct TagName: Hashable {
        var application: Int64
        var name: String
    }

    mutating func remember(_ tag: TagName, _ number: Int64) {
        if tags.count >= KnownNumbers.tagsMax { tags = [:] }
        tags[tag] = number
    }
}

extension Profiles {
    /// The number of an application, made when it is first met.
    func application(_ code: String) throws(StoreError) -> Int64 {
        if let known = known.applications[code] { return known }
        let number: Int64
        if let found = try Profiles.application(code, in: database) {
            number = found
        } else {
            try database.run("INSERT INTO applications (code) VALUES (?)", .text(code))
            number = database.lastInsertedRowID
        }
        known.applications[code] = number
        return number
    }

    /// The number of a known application.
    static func application(_ code: String, in database: Database) throws(StoreError) -> Int64? {
        try database.first("SELECT id FROM applications WHERE code = ?", .text(code)) { $0.int(0) }
    }

    /// The number of a tag, made when it is first met.
    func tag(_ name: String, application: Int64) throws(StoreError) -> Int64 {
        let key = KnownNumbers.TagName(application: application, name: name)
        if let known = known.tags[key] { return known }
        let number: Int64
        if let found = try Profiles.tag(name, application: application, in: database) {
            number = found
        } else {
            try database.run(
                "INSERT INTO tag_names (application, name) VALUES (?, ?)", .int(application), .text(name))
            number = database.lastInsertedRowID
        }
        known.remember(key, number)
        return number
    }

    /// The number of a known tag.
    static func tag(_ name: String, application: Int64, in database: Database) throws(StoreError) -> Int64? {
        try database.first(
            "SELECT id FROM tag_names WHERE application = ? AND name = ?", .int(application), .text(name)
        ) { $0.int(0) }
    }

    /// The number of a device, made when it is first met, by the registration of that sequence.
    func device(_ hwid: String, application: Int64, sequence: Int64) throws(StoreError) -> Int64 {
        if let known = try find(hwid, application: application) { return known }
        let number = try nextDevice(of: application)
        try database.run(
            """
            INSERT INTO devices (id, application, hwid, active, joined, profile_sequence, user_sequence)
            VALUES (?, ?, ?, 1, ?, 0, 0)
            """, .int(number), .int(application), .text(hwid), .int(sequence))
        return number
    }

    /// The number that the next new device of an application gets.
    func nextDevice(of application: Int64) throws(StoreError) -> Int64 {
        let base = DeviceNumber.base(ofApplication: application)
        let last = try database.first(
            "SELECT id FROM devices WHERE id > ? AND id < ? ORDER BY id DESC LIMIT 1", .int(base),
            .int(DeviceNumber.base(ofApplication: application + 1))
        ) { $0.int(0) }
        return (last ?? base) + 1
    }

    /// The number of a known device.
    func find(_ hwid: String, application: Int64) throws(StoreError) -> Int64? {
        try database.first(
            "SELECT id FROM devices WHERE application = ? AND hwid = ?", .int(application), .text(hwid)
        ) { $0.int(0) }
    }
}
