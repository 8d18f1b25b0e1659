import Service

/// Runs the limiter.
Runner(
    summary: "opens slots: holds each push to the pace that iOS accepts",
    core: { RateLimiter(configuration: $0.configuration) }
).main()
