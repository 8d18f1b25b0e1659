import Contracts
import Store

/// What registrations say of a device.
extension Profiles {
    /// Writes a profile; an absent member leaves what was known.
    ///
    /// A push token is taken from whoever had it.
    func write(_ profile: Profile, device: Int64, application: Int64, sequence: Int64) throws(StoreError) {
        if let token = profile.pushToken { try release(token, application: application, besides: device) }
        try database.run(
            """
            UPDATE devices SET joined = iif(active = 1, joined, ?2), active = 1, profile_sequence = ?2,
                push_token = coalesce(?3, push_token),
                device_type = coalesce(?4, device_type), environment = coalesce(?5, environment),
                os_version = coalesce(?6, os_version), language = coalesce(?7, language),
                app_version = coalesce(?8, app_version), device_model = coalesce(?9, device_model),
                timezone_seconds = coalesce(?10, timezone_seconds)
            WHERE id = ?1 AND profile_sequence < ?2
            """, .int(device), .int(sequence), Value(profile.pushToken),
            Value(profile.deviceType.map(Int64.init)),
            Value(profile.environment?.rawValue), Value(profile.osVersion), Value(profile.language),
            Value(profile.appVersion), Value(profile.deviceModel),
            Value(profile.timezoneSeconds.map(Int64.init)))
        if let user = profile.user { try setUser(user, device: device, sequence: sequence) }
        try change(profile.tags ?? [:], device: device, application: application, sequence: sequence)
    }

    /// Adds a device that is not known, with its profile: all in one row, as most devices of a bulk import come.
    func add(_ profile: Profile, _ hwid: String, application: Int64, sequence: Int64) throws(StoreError) {
        if let token = profile.pushToken { try release(token, application: application, besides: 0) }
        try database.run(
            """
            INSERT INTO devices (id, application, hwid, active, joined, profile_sequence, user_sequence, user,
                push_token, device_type, environment, os_version, language, app_version, device_model,
                timezone_seconds)
            VALUES (?, ?, ?, 1, ?4, ?4, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?)
            """, .int(try nextDevice(of: application)), .int(application), .text(hwid), .int(sequence),
            .int(profile.user == nil ? 0 : sequence),
            Value(profile.user), Value(profile.pushToken), Value(profile.deviceType.map(Int64.init)),
            Value(profile.environment?.rawValue), Value(profile.osVersion), Value(profile.language),
            Value(profile.appVersion), Value(profile.deviceModel),
            Value(profile.timezoneSeconds.map(Int64.init)))
        let device = database.lastInsertedRowID
        guard let changes = profile.tags else { return }
        for (name, change) in changes.sorted(by: { $0.key < $1.key }) {
            try insert(
                try values(after: change, on: nil), try tag(name, application: application), device: device,
                sequence: sequence)
        }
    }

    /// Takes a push token from whoever has it.
    private func release(_ token: String, application: Int64, besides device: Int64) throws(StoreError) {
        try database.run(
            "UPDATE devices SET push_token = NULL WHERE application = ? AND push_token = ? AND id <> ?",
            .int(application), .text(token), .int(device))
    }

    /// Ties a device to a user; an empty name to none.
    func setUser(_ user: String, device: Int64, sequence: Int64) throws(StoreError) {
        try database.run(
            "UPDATE devices SET user = nullif(?2, ''), user_sequence = ?3 WHERE id = ?1 AND user_sequence < ?3",
            .int(device), .text(user), .int(sequence))
    }

    /// Leaves a device out of every audience until it registers again.
    func unregister(device: Int64, sequence: Int64) throws(StoreError) {
        try database.run(
            """
            UPDATE devices SET active = 0, push_token = NULL, profile_sequence = ?2
            WHERE id = ?1 AND profile_sequence < ?2
            """, .int(device), .int(sequence))
    }
}
