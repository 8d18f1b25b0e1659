import Contracts
import Store

/// Whom an audience names, and what the devices are called.
extension Profiles {
    /// The hardware ids behind names that may be such, or ordinary push tokens, each once and in the order given.
    func hwids(ofDevicesNamed names: [String], application: String) throws(StoreError) -> [String] {
        var seen: Set<String> = []
        var hwids: [String] = []
        for name in names {
            let hwid = try hwid(ofDeviceNamed: name, application: application)
            if seen.insert(hwid).inserted { hwids.append(hwid) }
        }
        return hwids
    }

    /// An unknown name stands for itself.
    private func hwid(ofDeviceNamed name: String, application: String) throws(StoreError) -> String {
        let application = try self.application(application)
        if try find(name, application: application) != nil { return name }
        let byToken = try database.first(
            "SELECT hwid FROM devices WHERE application = ? AND push_token = ?", .int(application),
            .text(name.lowercased())
        ) { $0.text(0) }
        return byToken ?? name
    }

    /// The hardware ids of those devices, given in the order of their numbers, that are still registered.
    func hwids(of devices: [Int64]) throws(StoreError) -> [String] {
        guard let first = devices.first, let last = devices.last else { return [] }
        // One by one is cheaper than to walk past many others.
        guard last - first < 4 * devices.count else { return try hwids(oneByOne: devices) }
        var hwids: [String] = []
        hwids.reserveCapacity(devices.count)
        var next = 0
        try database.query(
            "SELECT id, hwid FROM devices WHERE id BETWEEN ? AND ? AND active = 1", .int(first), .int(last)
        ) { row in
            let id = row.int(0)
            while devices[next] < id { next += 1 }
            if devices[next] == id { hwids.append(row.text(1)) }
        }
        return hwids
    }

    private func hwids(oneByOne devices: [Int64]) throws(StoreError) -> [String] {
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
