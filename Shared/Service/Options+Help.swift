import Contracts

extension Options {
    /// What `--help` prints.
    static func help(_ service: ServiceName, summary: String, declared: [OptionDeclaration]) -> String {
        let name = service.rawValue
        let rows = common + declared.map { ("--\($0.name) \($0.value)", $0.help) }
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { row in
            "  \(row.0)\(String(repeating: " ", count: width - row.0.count))  \(row.1)"
        }
        return """
            \(name): \(summary)

            usage: \(name) [--config FILE] [--run DIR] [--data DIR] [--instance N]
                   \(name) --stdio [--clock manual] [--store PATH]

            \(lines.joined(separator: "\n"))

            An option beats the environment (LIVELINE_CONFIG, LIVELINE_INSTANCE, and for each scalar of the file its
            path, such as LIVELINE_RUN_DIRECTORY or LIVELINE_HTTP_LISTEN), which beats the file.
            Signals: SIGTERM and SIGINT drain and stop, twice at once; SIGHUP reads the file again.
            Exit codes: 0 stopped as asked, 64 usage, 65 bad input, 69 unavailable, 70 a mistake of the program,
            75 try again, 78 configuration.

            """
    }

    private static let common = [
        ("--config FILE", "the configuration; all of it has defaults"),
        ("--run DIR", "where sockets and locks are (/run/liveline)"),
        ("--data DIR", "where stores are (/var/lib/liveline)"),
        ("--instance N", "which process of the service this is (1)"),
        ("--stdio", "run alone: one JSON message a line in, one a line out"),
        ("--clock real|manual[:SECONDS]", "with --stdio: manual moves by {\"advance\": seconds} lines"),
        ("--store memory|PATH", "with --stdio: where the store is (memory)"),
        ("--help", "print this"),
        ("--version", "print the version"),
    ]
}

/// The release that this build belongs to.
public enum Release {
    /// Its number.
    public static let version = "1.0.0"
}
