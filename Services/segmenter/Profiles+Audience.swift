import Contracts
import Store

/// Who is meant: each audience becomes a list of devices, read at one moment.
extension Profiles {
    /// The devices that match an expression, in the order of their numbers.
    func devices(matching filter: Filter, application: String) throws(StoreError) -> [Int64] {
        var devices: [Int64] = []
        let (condition, values) = try matching(filter, application)
        try database.query(SQL("SELECT id FROM devices WHERE \(condition) ORDER BY id"), values: values) {
            devices.append($0.int(0))
        }
        return devices
    }

    /// How many devices match an expression.
    func count(matching filter: Filter, application: String) throws(StoreError) -> Int {
        var count: Int64 = 0
        let (condition, values) = try matching(filter, application)
        try database.query(SQL("SELECT count(*) FROM devices WHERE \(condition)"), values: values) {
            count = $0.int(0)
        }
        return Int(count)
    }

    private func matching(_ filter: Filter, _ application: String) throws(StoreError) -> (String, [Value]) {
        let application = try self.application(application)
        var query = FilterQuery(application: application)
        let condition = query.sql(filter)
        return (
            "application = ? AND \(Profiles.reachable) AND id IN (\(condition))",
            [.int(application)] + query.values
        )
    }

    /// Live Activities exist on iOS (device type 1) alone; a device that names no type counts as one.
    private static let reachable = "active = 1 AND (device_type IS NULL OR device_type = 1)"

    /// The devices of users, in the order of their numbers.
    func devices(ofUsers users: [String], application: String) throws(StoreError) -> [Int64] {
        let application = try self.application(application)
        var devices: Set<Int64> = []
        for user in users {
            try database.query(
                SQL("SELECT id FROM devices WHERE application = ? AND user = ? AND \(Profiles.reachable)"),
                .int(application), .text(user)
            ) { devices.insert($0.int(0)) }
        }
        return devices.sorted()
    }

    /// The hardware id behind a name that may be one, or an ordinary push token; an unknown name stands for itself.
    func hwid(ofDeviceNamed name: String, application: String) throws(StoreError) -> String {
        let application = try self.application(application)
        if try find(name, application: application) != nil { return name }
        let byToken = try database.first(
            "SELECT hwid FROM devices WHERE application = ? AND push_token = ?", .int(application),
            .text(name.lowercased())
        ) { $0.text(0) }
        return byToken ?? name
    }

    /// The hardware ids of those devices that are still registered, in the order given.
    func hwids(of devices: ArraySlice<Int64>) throws(StoreError) -> [String] {
        var hwids: [String] = []
        for device in devices {
            let hwid = try database.first(
                "SELECT hwid FROM devices WHERE id = ? AND active = 1", .int(device)
            ) {
                $0.text(0)
            }
            if let hwid { hwids.append(hwid) }
        }
        return hwids
    }
}
