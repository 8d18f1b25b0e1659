import Crypto
import Glibc
import Service
import Store

/// Runs the registry.
Runner(
    summary: "knows tokens and participants, and keeps one row for each delivery until it has an outcome",
    storeVersion: Ledger.schema.steps.count,
    core: { TokenRegistry(configuration: $0.configuration) },
    store: {
        try Ledger(
            Database($0.store("ledger")), seed: randomUInt64(), openedAtSeconds: Int64(time(nil)),
            boot: $0.isAlone ? nil : bootNumber())
    }
).main()
