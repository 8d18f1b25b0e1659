import Crypto
import Glibc
import Service
import Store

Runner(
    summary: "takes calls, keeps what it accepts until others have it, and tells how it ended",
    storeVersion: Journal.schema.steps.count,
    core: { Ingest($0.configuration, tellsWaiting: !$0.isAlone) },
    store: {
        try Journal(
            $0.store("journal"), freshSecret: randomBytes(MessageCode.secretBytes),
            openedAtSeconds: Int64(time(nil)))
    },
    adapter: { try IngestAdapter($0) }
).main()
