import Service

/// How the connections to APNs behave; every wait and number has its place here.
struct ConnectionLimits: Equatable, Sendable {
    /// How many connections one (team, key, environment) has at most; 4.
    var connectionsMax = 4
    /// How long a name may take to be resolved, in milliseconds; 5 s.
    var resolveTimeoutMilliseconds: Int64 = 5_000
    /// How long TCP and TLS may take together, in milliseconds; 10 s.
    var connectTimeoutMilliseconds: Int64 = 10_000
    /// The least time between two connects, doubled after each one in a row that came to nothing; 100 ms.
    var reconnectMilliseconds: Int64 = 100
    /// The longest of these, in milliseconds; 10 s.
    var reconnectMillisecondsMax: Int64 = 10_000
    /// How long an idle connection is left without a PING, in milliseconds; 1 h, as Apple suggests.
    var idlePingMilliseconds: Int64 = 3_600_000
    /// How long a connection with open requests may be silent before it gets a PING, in milliseconds; 5 s.
    var silencePingMilliseconds: Int64 = 5_000
    /// How long a PING waits for its answer before the connection is given up, in milliseconds; 5 s.
    var pingTimeoutMilliseconds: Int64 = 5_000
    /// How long a PING waits before new requests go elsewhere, in milliseconds; 1 s.
    var doubtMilliseconds: Int64 = 1_000
    /// How many answers of trouble (500, 503, none) in a row give a connection up; 3.
    var troubleMax = 3
    /// The least time between two connections given up for trouble, doubled while it goes on; 10 s.
    var troubleMilliseconds: Int64 = 10_000
    /// The longest of these, in milliseconds; 5 min.
    var troubleMillisecondsMax: Int64 = 300_000
    /// How long requests must have waited for a free stream before one more connection is opened; 1 s.
    var crowdedMilliseconds: Int64 = 1_000
    /// How long a connection is left alone after it refused a stream, in milliseconds; 100 ms.
    var refusedMilliseconds: Int64 = 100
    /// How long answers are waited for once the process is to stop, in milliseconds; 4 s, so that what has none is
    /// told before it stops after 5 s.
    var drainMilliseconds: Int64 = 4_000
    /// How many `BadDeviceToken` in a row show a wrong configuration; 20, as the registry has it.
    var badTokensMax = 20
    /// How long to wait before a provider token that cannot be had is asked for again, in milliseconds; 5 s.
    var noTokenMilliseconds: Int64 = 5_000
    /// How many bytes of an answer about channels are kept: 10,000 ids with room to spare.
    var channelListBytesMax = 4 << 20
    /// How long to wait for another process to be done with a token's file, in milliseconds; 50 ms.
    var tokenRetryMilliseconds: Int64 = 50

    /// How long the next connect waits after so many in a row that came to nothing.
    func reconnectDelay(failures: Int) -> Int64 {
        min(reconnectMilliseconds << Int64(min(failures, 16)), reconnectMillisecondsMax)
    }

    /// How long after so many connections given up for trouble in a row no other is.
    func troubleDelay(times: Int) -> Int64 {
        min(troubleMilliseconds << Int64(min(times, 16)), troubleMillisecondsMax)
    }
}

extension ConnectionLimits {
    /// The options that set some of them.
    static let options = [
        OptionDeclaration(
            "connections", value: "N", help: "connections for each team, key and host at most (4)"),
        OptionDeclaration(
            "idle-ping", value: "SECONDS", help: "how long a connection idles without a PING (3600)"),
    ]

    /// Takes what the command line says.
    ///
    /// - Throws: `ServiceFailure` (64) for a value that makes no sense.
    init(_ options: [String: String]) throws(ServiceFailure) {
        connectionsMax = try Self.number("connections", in: 1...64, options) ?? connectionsMax
        let seconds = try Self.number("idle-ping", in: 1...86_400, options)
        idlePingMilliseconds = seconds.map { Int64($0) * 1_000 } ?? idlePingMilliseconds
    }

    private static func number(
        _ name: String, in range: ClosedRange<Int>, _ options: [String: String]
    ) throws(ServiceFailure) -> Int? {
        guard let text = options[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ServiceFailure(
                .usage, "usage", "--\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
