import Contracts
import Telemetry
import Web

/// Waits for the store of a service that runs once: a second instance stands by until the first one's process is gone.
enum StandBy {
    /// How often the lock is tried, in milliseconds.
    static let tryMilliseconds: Int64 = 200

    /// What who may work holds for as long as it does.
    struct Turn {
        let lock: InstanceLock?
        /// Whether it was asked meanwhile to read its configuration again.
        var isReloadDue = false
    }

    /// Waits until this process may work; while it waits it says no hello, so that nobody sends it anything.
    ///
    /// - Returns: nil if it was asked to stop.
    /// - Throws: `ServiceFailure` if the lock cannot be made, or the admin door or the lock of its name has lost its place.
    static func wait(
        _ service: ServiceName, _ context: ServiceContext, _ name: InstanceLock, _ admin: AdminDoor,
        _ signals: Signals, _ manager: ServiceManager
    ) throws(ServiceFailure) -> Turn? {
        guard service.runsOnce else { return Turn(lock: nil) }
        let directory = context.configuration.dataDirectory
        try start("data-directory", directory) { () throws(SystemError) in
            try makeDirectory(directory, mode: 0o750)
        }
        let path = "\(directory)/\(service.rawValue).lock"
        admin.missing = { ["standing by: another \(service.rawValue) works"] }
        var hasSaid = false
        var isReloadDue = false
        while true {
            let lock = try start("lock", path) { () throws(SystemError) in try InstanceLock(path) }
            if let lock { return Turn(lock: lock, isReloadDue: isReloadDue) }
            if !hasSaid {
                hasSaid = true
                context.logger.info("standing-by", ["lock": path])
                // The process works as it should, or a service manager would wait for it and give up.
                manager.ready()
            }
            let now = MonotonicClock.nowMilliseconds()
            waitReadable(
                [signals.descriptor, admin.pollable?.descriptor ?? -1], milliseconds: tryMilliseconds)
            admin.pollable?.process(nowMilliseconds: now)
            try admin.requirePlace()
            guard name.isHeld else { throw .placeLost(name.path) }
            let requests = signals.take()
            if requests.contains(.stop) { return nil }
            isReloadDue = isReloadDue || requests.contains(.reload)
        }
    }
}
