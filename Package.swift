// swift-tools-version: 6.2
import PackageDescription

/// The settings every target is built with.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A C library of Debian's; `map` alone links it where `pkgConfig` would warn.
func library(_ name: String, _ package: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Shared/C/\(name.dropFirst())", pkgConfig: pkgConfig,
        providers: [.apt([package])])
}

func shared(_ name: String, _ needs: Target.Dependency..., unsafe: Bool = false) -> Target {
    .target(
        name: name, dependencies: needs, path: "Shared/\(name)",
        swiftSettings: unsafe ? strict + [.strictMemorySafety()] : strict)
}

/// Whether the fuzz harness is built: it needs every module instrumented, and services as libraries, since the package
/// manager links no executable into another.
let isFuzzed = Context.environment["TESTS_FUZZ"] != nil

func service(_ name: String, _ needs: Target.Dependency...) -> Target {
    let path = "Services/\(name)"
    guard isFuzzed else {
        return .executableTarget(name: name, dependencies: needs, path: path, swiftSettings: strict)
    }
    return .target(
        name: name, dependencies: needs, path: path, exclude: ["main.swift"], swiftSettings: strict)
}

func tests(
    _ name: String, _ needs: Target.Dependency..., excluding: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: needs, path: "Tests/\(name)", exclude: excluding,
        resources: resources,
        swiftSettings: strict)
}

let package = Package(
    name: "liveline",
    targets: [
        library("CZMQ", "libzmq3-dev"),
        library("CSQLite", "libsqlite3-dev", pkgConfig: "sqlite3"),
        library("CMicrohttpd", "libmicrohttpd-dev", pkgConfig: "libmicrohttpd"),
        library("CCurl", "libcurl4-openssl-dev", pkgConfig: "libcurl"),
        library("CNghttp2", "libnghttp2-dev", pkgConfig: "libnghttp2"),
        library("COpenSSL", "libssl-dev", pkgConfig: "openssl"),
        library("CSystem", "libc6-dev"),

        shared("Collections"),
        shared("JSON"),
        shared("Telemetry", "JSON", unsafe: true),
        shared("Contracts"),
        shared("Crypto", "COpenSSL", unsafe: true),
        shared("Store", "CSQLite", "Contracts", unsafe: true),
        shared("Bus", "CZMQ", "Contracts", unsafe: true),
        shared("Web", "CMicrohttpd", "CCurl", "CSystem", "Collections", unsafe: true),
        shared("Processes", "CSystem", unsafe: true),
        shared("Arguments"),
        shared("HTTP2", "CNghttp2", "COpenSSL", "Crypto", unsafe: true),
        shared(
            "Service", "Contracts", "Bus", "Store", "Web", "JSON", "Telemetry", "CSystem", "Crypto",
            unsafe: true),

        service(
            "ingest", "Collections", "Contracts", "Service", "Store", "JSON", "Web", "Telemetry", "Crypto"),
        service("segmenter", "Contracts", "Service", "Store", "Telemetry"),
        service("token-registry", "Collections", "Contracts", "Service", "Store", "Telemetry"),
        service("rate-limiter", "Contracts", "Service", "Telemetry"),
        service(
            "apns-gateway", "Collections", "Contracts", "Service", "HTTP2", "Crypto", "JSON", "Telemetry"),
        service("apns-simulator", "Arguments", "HTTP2", "Crypto", "Web", "JSON", "Telemetry"),
        service(
            "liveline", "Collections", "Contracts", "Service", "Store", "Web", "HTTP2", "JSON", "Telemetry",
            "Crypto",
            "Processes", "Arguments"),

        tests("Collections", "Collections"),
        tests("JSON", "JSON"),
        tests("Telemetry", "Telemetry", "JSON"),
        tests("Contracts", "Contracts", resources: [.copy("Golden")]),
        tests("Crypto", "Crypto"),
        tests("Store", "Store", "Contracts"),
        tests("Bus", "Bus", "Contracts"),
        tests("Web", "Web"),
        tests("Processes", "Processes"),
        tests("Arguments", "Arguments"),
        tests("HTTP2", "HTTP2", "Crypto"),
        tests("Service", "Service", "Contracts", "Bus", "Store", "JSON", "Telemetry", "Web", "Crypto"),
        tests(
            "Ingest", "ingest", "Bus", "Contracts", "Service", "Store", "JSON", "Web", "Telemetry", "Crypto"),
        tests("Segmenter", "segmenter", "Contracts", "Service", "Store"),
        tests("TokenRegistry", "token-registry", "Contracts", "Service", "Store"),
        tests("RateLimiter", "rate-limiter", "Contracts", "Service"),
        tests("APNsGateway", "apns-gateway", "Contracts", "Service", "HTTP2", "Crypto", "JSON", "Telemetry"),
        tests("APNsSimulator", "apns-simulator", "Arguments", "HTTP2", "Crypto", "Web", "JSON", "Telemetry"),
        tests(
            "Liveline", "liveline", "Arguments", "Contracts", "Service", "Store", "Web", "JSON", "Telemetry",
            "Crypto", "Processes"),
        tests(
            "Pipeline", "ingest", "segmenter", "token-registry", "rate-limiter", "apns-gateway", "liveline",
            "Contracts", "Service", "Store", "Crypto", "Web", "Bus", "HTTP2", "JSON"),
        tests(
            "Clients", "liveline", "ingest", "segmenter", "token-registry", "rate-limiter", "apns-gateway",
            "apns-simulator",
            excluding: [
                "aioapns_client.py", "async_firebase_client.py", "firebase_admin_client.py", "liveline.py",
                "pyfcm_client.py", "pypushwoosh_client.py", "requirements.txt",
            ]),
        tests("Tidy"),
    ]
)

if isFuzzed {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "ingest", "segmenter", "apns-gateway", "Contracts", "Crypto", "JSON", "Service", "Store",
                "Web",
            ],
            path: "Tests/Fuzz", exclude: ["Found", "Seeds", "run"], swiftSettings: strict))
}
