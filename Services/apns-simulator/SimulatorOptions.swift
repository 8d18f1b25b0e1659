import Arguments
import Web

/// A numeric address and port.
struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    var host: String
    var port: Int

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Reads `127.0.0.1:2197` or `[::1]:2197`.
    init?(_ text: String) {
        guard let address = try? HTTPAddress(parsing: text), case .tcp(let host, let port) = address else {
            return nil
        }
        self.host = host
        self.port = Int(port)
    }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

/// A provider key as the command line names it.
struct KeyOption: Equatable, Sendable {
    var entry: ProviderKeyEntry
    var file: String

    /// Reads `TEAM:KEYID:FILE`, then `:production` or `:sandbox`, then `:topics=a,b`, both optional.
    init?(_ text: String) {
        var parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3 else { return nil }
        var topics: Set<String>?
        if let last = parts.last, last.hasPrefix("topics=") {
            topics = Set(last.dropFirst("topics=".count).split(separator: ",").map(String.init))
            parts.removeLast()
        }
        let environment = parts.last.flatMap(APNsEnvironment.init)
        if environment != nil { parts.removeLast() }
        guard parts.count >= 3, parts[0].utf8.count == 10, parts[1].utf8.count == 10 else { return nil }
        file = parts[2...].joined(separator: ":")
        guard !file.isEmpty else { return nil }
        entry = ProviderKeyEntry(teamID: parts[0], keyID: parts[1], environment: environment, topics: topics)
    }
}

/// What the command line says.
struct SimulatorOptions {
    var listen = ListenAddress(host: "127.0.0.1", port: 2197)
    var sandboxListen: ListenAddress?
    var channelListen: ListenAddress?
    var sandboxChannelListen: ListenAddress?
    var control = HTTPAddress.tcp(host: "127.0.0.1", port: 2198)
    var ingest: String?
    var keys: [KeyOption] = []
    var acceptsAnyKey = false
    var certificateFile: String?
    var rules = APNsRules.Settings()
    var fleet = FleetSettings()
    var answers = Simulator.Settings()
    var initialStreamLimit = 1
    var registrationsMax = 64
    var hasSeed = false
    var showsHelp = false
    var showsVersion = false

    /// Where each environment listens.
    var listens: [(environment: APNsEnvironment, address: ListenAddress)] {
        [(.production, listen)] + (sandboxListen.map { [(.sandbox, $0)] } ?? [])
    }

    /// Where the hosts that manage channels listen.
    var channelListens: [(environment: APNsEnvironment, address: ListenAddress)] {
        (channelListen.map { [(.production, $0)] } ?? [])
            + (sandboxChannelListen.map { [(.sandbox, $0)] } ?? [])
    }

    /// All that is wrong with a command line.
    struct Faults: Error, Equatable {
        var messages: [String]
    }

    init() {}

    /// Reads a command line without the program's name.
    ///
    /// - Throws: `Faults` with every fault in it.
    init(_ arguments: [String]) throws(Faults) {
        let known = CommandOptions(OptionTable.all)
        var messages: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if let fault = known.take(argument, &rest, into: &self) { messages.append(fault) }
        }
        let isQuestion = showsHelp || showsVersion
        if keys.isEmpty, !acceptsAnyKey, !isQuestion {
            messages.append("--key or --any-key is needed: without either every push is refused")
        }
        guard messages.isEmpty else { throw Faults(messages: messages) }
    }
}
