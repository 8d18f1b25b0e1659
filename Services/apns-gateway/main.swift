import FoundationEssentials
import Service

/// Runs the gateway.
Runner(
    summary: "sends pushes to APNs over HTTP/2 and reports what became of each",
    options: [
        OptionDeclaration(
            "apns", value: "URL", help: "the APNs host for both environments; with --stdio: really send"),
        OptionDeclaration(
            "apns-channels", value: "URL", help: "the host that manages channels, for both environments"),
    ] + ConnectionLimits.options,
    core: { APNsGateway(settings: GatewaySettings($0.configuration)) },
    adapter: { context in
        try APNsConnections(
            context, limits: ConnectionLimits(context.options),
            nowSeconds: { Int64(Date().timeIntervalSince1970) })
    },
    adapterIsUsedAlone: { $0.options["apns"] != nil }
).main()
