/// The process of a service: options, configuration, lock, store, bus, loop, signals and exit code.
///
/// A service's `main.swift` says what is its own and hands over:
///
/// ```swift
/// Runner(
///     summary: "keeps each participant to its pace",
///     core: { RateLimiter(configuration: $0.configuration, epoch: $0.epoch) }
/// ).main()
/// ```
///
/// One with a store and an adapter gives these too. Each is made once, in the order store, adapter, core; the core
/// again whenever a transaction has failed.
public struct Runner<C: Core, A: Adapter> where A.External == C.External, A.Output == C.Output {
    /// What `--help` says the service does, in one line.
    public let summary: String
    /// Options beside those that each service has.
    public let options: [OptionDeclaration]
    /// The version of its store's schema, which `--version` tells; nil without a store.
    public let storeVersion: Int?
    let makeCore: (ServiceContext) -> C
    let makeStore: (ServiceContext) throws -> C.Storage
    let makeAdapter: (ServiceContext) throws -> A
    let adapterIsUsedAlone: (ServiceContext) -> Bool

    /// Describes a service with a store and an adapter.
    ///
    /// - Parameters:
    ///   - summary: what the service does, in one line for `--help`.
    ///   - options: options beside those that each service has.
    ///   - storeVersion: the version of the store's schema, for `--version`.
    ///   - core: makes the core; called again when a transaction has failed, and it then finds its state in the store.
    ///   - store: opens the store, usually at `context.store(name)`. What it throws ends the process: a `ServiceFailure`
    ///     by its code, a `StoreError` that is busy or full with 75, all else with 69.
    ///   - adapter: makes the adapter; what it throws ends the process likewise.
    ///   - adapterIsUsedAlone: whether the adapter also works under `--stdio`; without it the core's outputs are printed.
    public init(
        summary: String, options: [OptionDeclaration] = [], storeVersion: Int? = nil,
        core: @escaping (ServiceContext) -> C,
        store: @escaping (ServiceContext) throws -> C.Storage,
        adapter: @escaping (ServiceContext) throws -> A,
        adapterIsUsedAlone: @escaping (ServiceContext) -> Bool = { _ in false }
    ) {
        self.summary = summary
        self.storeVersion = storeVersion
        self.options = options
        self.makeCore = core
        self.makeStore = store
        self.makeAdapter = adapter
        self.adapterIsUsedAlone = adapterIsUsedAlone
    }
}

extension Runner where C.Storage == NoStore {
    /// Describes a service that keeps nothing.
    public init(
        summary: String, options: [OptionDeclaration] = [], core: @escaping (ServiceContext) -> C,
        adapter: @escaping (ServiceContext) throws -> A,
        adapterIsUsedAlone: @escaping (ServiceContext) -> Bool = { _ in false }
    ) {
        self.init(
            summary: summary, options: options, core: core, store: { _ in NoStore() }, adapter: adapter,
            adapterIsUsedAlone: adapterIsUsedAlone)
    }
}

extension Runner where A == NoAdapter {
    /// Describes a service that only talks on the bus.
    public init(
        summary: String, options: [OptionDeclaration] = [], storeVersion: Int? = nil,
        core: @escaping (ServiceContext) -> C,
        store: @escaping (ServiceContext) throws -> C.Storage
    ) {
        self.init(
            summary: summary, options: options, storeVersion: storeVersion, core: core, store: store,
            adapter: { _ in NoAdapter() })
    }
}

extension Runner where A == NoAdapter, C.Storage == NoStore {
    /// Describes a service that keeps nothing and only talks on the bus.
    public init(
        summary: String, options: [OptionDeclaration] = [], core: @escaping (ServiceContext) -> C
    ) {
        self.init(
            summary: summary, options: options, core: core, store: { _ in NoStore() },
            adapter: { _ in NoAdapter() })
    }
}

/// An option of one service.
public struct OptionDeclaration: Sendable, Equatable {
    /// Its name without dashes.
    public var name: String
    /// What stands for its value in `--help`, such as `URL`.
    public var value: String
    /// What it does, in one line.
    public var help: String

    /// Declares an option that takes a value.
    public init(_ name: String, value: String, help: String) {
        self.name = name
        self.value = value
        self.help = help
    }
}
