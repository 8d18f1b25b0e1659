import Bus
import Contracts
import Crypto
import FoundationEssentials
internal import Glibc
import Store
import Telemetry
import Web

extension Runner {
    /// Runs the process as its command line says, and ends it with one of the codes of `ExitCode`.
    public func main() -> Never {
        let code = run(
            Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        exit(code.rawValue)
    }

    func run(_ arguments: [String], environment: [String: String]) -> ExitCode {
        var logger = Logger(service: C.service.rawValue)
        do {
            let options = try Options(arguments, environment: environment, declared: self.options)
            switch options.mode {
            case .help:
                write(Options.help(C.service, summary: summary, declared: self.options))
                return .stopped
            case .version:
                let store = storeVersion.map { ", store \($0)" } ?? ""
                write("\(C.service.rawValue) \(Release.version)\(store)\n")
                return .stopped
            case .bus, .stdio: break
            }
            let read = try Configuration.read(options, environment: environment)
            let context = makeContext(options, read.configuration)
            logger = context.logger
            for warning in read.warnings {
                // Once is enough when five services read the same file.
                logger.log(
                    C.service == .ingest ? .warning : .debug, "configuration-doubt",
                    ["path": warning.path, "problem": warning.problem])
            }
            if options.mode == .stdio { return try runAlone(context, options) }
            return try runOnBus(context, options, environment)
        } catch let failure as ServiceFailure {
            logger.error(failure.event, ["problem": failure.problem])
            return failure.code
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults {
                logger.error("configuration-fault", ["path": fault.path, "problem": fault.problem])
            }
            return .configuration
        } catch {
            logger.error("failed", ["problem": "\(error)"])
            return .unavailable
        }
    }

    private func makeContext(_ options: Options, _ configuration: Configuration) -> ServiceContext {
        let instance = InstanceName(C.service, options.instance)
        let logger = Logger(
            service: "\(instance)", level: LogLevel(name: configuration.log.level) ?? .info,
            format: configuration.log.json ? .json : .text)
        return ServiceContext(
            configuration: configuration, instance: instance, epoch: Int64(randomUInt64() >> 11),
            logger: logger, isAlone: options.mode == .stdio, options: options.others,
            storePath: options.storePath)
    }

    // MARK: On the bus

    private func runOnBus(
        _ given: ServiceContext, _ options: Options, _ environment: [String: String]
    ) throws -> ExitCode {
        var context = given
        let logger = context.logger
        let signals = Signals()
        let endpoint = try makeEndpoint(context)
        let lock = try takeLock(endpoint)
        let admin = try AdminDoor(
            AdminDoor.address(context.configuration, endpoint), metrics: context.metrics)
        let manager = ServiceManager(environment: environment)
        defer { withExtendedLifetime(lock) {} }
        guard let turn = try StandBy.wait(C.service, context, lock, admin, signals, manager) else {
            logger.info("stopped")
            return .stopped
        }
        defer { withExtendedLifetime(turn) {} }
        if turn.isReloadDue, let configuration = reread(options, environment, logger) {
            context.take(configuration)
            logger.info("reloaded")
        }
        let store = try makeStore(asFailure: context)
        let bus = try makeBus(endpoint)
        let adapter = try asFailure("adapter") { try makeAdapter(context) }
        let loop = ServiceLoop(
            context: context, store: store, adapter: adapter, bus: bus, admin: admin, makeCore: makeCore)
        loop.locks = [lock] + [turn.lock].compactMap { $0 }
        showPauses(of: loop, at: admin)
        loop.onReady = {
            manager.ready()
            logger.info(
                "ready", ["version": Release.version, "pid": getpid(), "run": endpoint.runDirectory])
        }
        loop.onStopping = { manager.stopping() }
        try loop.run(signals) { reread(options, environment, logger) }
        logger.info("stopped", ["kept": loop.node.keptCount])
        return .stopped
    }

    private func showPauses(of loop: ServiceLoop<C, A>, at admin: AdminDoor) {
        let gauge = PauseGauge(loop.context.metrics)
        admin.refresh = { [weak loop, refresh = admin.refresh] in
            refresh()
            if let loop { gauge.show(loop.node.core.pauseReasons) }
        }
    }

    private func makeEndpoint(_ context: ServiceContext) throws(ServiceFailure) -> BusEndpoint {
        let directory = context.configuration.runDirectory
        do {
            let endpoint = try BusEndpoint(runDirectory: directory, instance: context.instance)
            try start("run-directory", directory) { () throws(SystemError) in
                try makeDirectory(directory, mode: 0o750)
                try warnIfOpen(directory, context.logger)
            }
            return endpoint
        } catch let error as BusError {
            throw ServiceFailure(.configuration, "run-directory", error.description)
        } catch let failure as ServiceFailure {
            throw failure
        } catch {
            throw ServiceFailure(.unavailable, "run-directory", "\(error)")
        }
    }

    private func takeLock(_ endpoint: BusEndpoint) throws(ServiceFailure) -> InstanceLock {
        let path = endpoint.lockPath
        let lock = try start("lock", path) { () throws(SystemError) in try InstanceLock(path) }
        guard let lock else {
            throw ServiceFailure(.temporary, "lock", "another \(endpoint.instance) runs: it holds \(path)")
        }
        return lock
    }

    private func makeBus(_ endpoint: BusEndpoint) throws(ServiceFailure) -> Bus {
        do {
            return try Bus(endpoint)
        } catch {
            throw ServiceFailure(
                error.reason == .inUse ? .temporary : .unavailable, "bus", error.description)
        }
    }

    private func reread(_ options: Options, _ environment: [String: String], _ logger: Logger)
        -> Configuration?
    {
        do {
            return try Configuration.read(options, environment: environment).configuration
        } catch {
            for fault in error.faults {
                logger.error("reload-failed", ["path": fault.path, "problem": fault.problem])
            }
            return nil
        }
    }

    // MARK: Alone

    private func runAlone(_ context: ServiceContext, _ options: Options) throws -> ExitCode {
        let adapter =
            adapterIsUsedAlone(context) ? try asFailure("adapter") { try makeAdapter(context) } : nil
        let alone = Alone(
            context: context, core: makeCore, store: try makeStore(asFailure: context), adapter: adapter,
            clock: AloneClock(options.clock), write: writeToStandardOutput)
        return alone.run(input: STDIN_FILENO)
    }

    // MARK: Errors

    private func makeStore(asFailure context: ServiceContext) throws -> C.Storage {
        if C.Storage.self != NoStore.self, !context.isAlone {
            let directory = context.configuration.dataDirectory
            try start("data-directory", directory) { () throws(SystemError) in
                try makeDirectory(directory, mode: 0o750)
            }
        }
        return try asFailure("store") { try makeStore(context) }
    }

    private func asFailure<T>(_ event: String, _ make: () throws -> T) throws -> T {
        do {
            return try make()
        } catch let error as StoreError {
            throw ServiceFailure(
                error.isBusy || error.isFull ? .temporary : .unavailable, event, error.description)
        } catch let failure as ServiceFailure {
            throw failure
        } catch let faults as ConfigurationFaults {
            throw faults
        } catch {
            throw ServiceFailure(.unavailable, event, "\(error)")
        }
    }

    private func write(_ text: String) { writeToStandardOutput([UInt8](text.utf8)) }
}

/// Turns an error of the operating system into a reason not to start.
@discardableResult
func start<T>(
    _ event: String, _ path: String = "", _ body: () throws(SystemError) -> T
) throws(ServiceFailure) -> T {
    do {
        return try body()
    } catch {
        let place = path.isEmpty ? "" : " \(path)"
        throw ServiceFailure(.unavailable, event, "\(error)\(place)")
    }
}

/// Says in the log that others may enter the run directory, where whoever can connect can send messages.
func warnIfOpen(_ directory: String, _ logger: Logger) throws(SystemError) {
    guard let mode = try permissionsOpenToOthers(directory) else { return }
    logger.warning("run-directory-open", ["run": directory, "mode": mode])
}
