import Service
import Store

/// Runs the segmenter.
Runner(
    summary: "turns an audience into batches of at most 500 recipients",
    storeVersion: Profiles.schema.steps.count,
    core: { Segmenter(epoch: $0.epoch) },
    store: { try Profiles($0.store("profiles")) }
).main()
