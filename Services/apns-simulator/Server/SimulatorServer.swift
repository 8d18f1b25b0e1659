import Crypto
import FoundationEssentials
import HTTP2
import Telemetry
import Web

/// Why the simulator does not start.
struct StartFault: Error {
    /// A code of sysexits.h: 78 for configuration, 75 for what may work later.
    var exitCode: Int32
    var message: String
}

/// The process: the hosts of APNs, the control port and the apps' calls around one simulator, in one poll loop.
final class SimulatorServer {
    let options: SimulatorOptions
    let stage: Stage
    let listeners: [APNsListener]
    let control: HTTPServer
    let certificatePEM: String
    private let registrar: Registrar

    /// Listens everywhere, and writes the certificate before anything can connect.
    init(_ options: SimulatorOptions) throws(StartFault) {
        let stage = Stage(try Self.simulator(options))
        let hosts = Self.certificateHosts(options)
        let identity: SelfSignedCertificate
        let tls: HTTP2ServerTLS
        do {
            identity = try SelfSignedCertificate.make(hosts: hosts)
            tls = try HTTP2ServerTLS(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
            if let file = options.certificateFile {
                let place = URL(filePath: file)
                try Data(identity.certificatePEM.utf8).write(to: place, options: .atomic)
            }
        } catch {
            throw StartFault(exitCode: 78, message: "certificate: \(error)")
        }
        var listeners: [APNsListener] = []
        for (environment, address) in options.listens {
            let server = try Self.listen(address, tls, options)
            listeners.append(APNsListener(environment, server, stage))
        }
        for (environment, address) in options.channelListens {
            let server = try Self.listen(address, tls, options)
            listeners.append(APNsListener(environment, server, stage, managesChannels: true))
        }
        self.options = options
        self.stage = stage
        self.listeners = listeners
        certificatePEM = identity.certificatePEM
        registrar = Registrar(stage, connectionsMax: options.registrationsMax)
        control = try Self.control(options, stage, listeners)
    }

    /// Runs until `condition` holds or the time is over.
    @discardableResult
    func run(
        with others: [any Pollable] = [], timeoutMilliseconds: Int64, until condition: () -> Bool
    ) -> Bool {
        let members: [any Pollable] = listeners + [control, registrar] + others
        return Poller(members).run(timeoutMilliseconds: timeoutMilliseconds, until: condition)
    }

    /// Ends all connections.
    func close() {
        for listener in listeners { listener.close() }
        control.close()
        registrar.close()
    }

    private static func simulator(_ options: SimulatorOptions) throws(StartFault) -> Simulator {
        var keys: [String: VerifyingKey] = [:]
        for key in options.keys {
            do {
                keys[key.entry.keyID] = try VerifyingKey.load(file: key.file)
            } catch {
                throw StartFault(exitCode: 78, message: "\(error)")
            }
        }
        let verifier = ProviderTokenVerifier(
            keys: options.keys.map(\.entry), acceptsAnyKey: options.acceptsAnyKey
        ) { [keys] entry, signed, signature in
            keys[entry.keyID]?.verify(signature, over: signed, form: .rawOrDER) ?? false
        }
        var settings = options.fleet
        if !options.hasSeed { settings.seed = randomUInt64() }
        var answers = options.answers
        answers.seed = randomUInt64()
        return Simulator(
            settings: answers, rules: APNsRules(settings: options.rules, verifier: verifier),
            fleet: PhoneFleet(settings: settings))
    }

    private static func certificateHosts(_ options: SimulatorOptions) -> [String] {
        var hosts = ["localhost", "127.0.0.1", "::1"]
        for (_, address) in options.listens + options.channelListens where !hosts.contains(address.host) {
            hosts.append(address.host)
        }
        return hosts
    }

    private static func listen(
        _ address: ListenAddress, _ tls: HTTP2ServerTLS, _ options: SimulatorOptions
    ) throws(StartFault) -> HTTP2Server {
        var limits = HTTP2ServerOptions()
        limits.streamLimit = options.initialStreamLimit
        do {
            return try HTTP2Server(address: address.host, port: address.port, tls: tls, options: limits)
        } catch {
            throw StartFault(exitCode: 75, message: "\(address): \(error)")
        }
    }

    private static func control(
        _ options: SimulatorOptions, _ stage: Stage, _ listeners: [APNsListener]
    ) throws(StartFault) -> HTTPServer {
        let api = ControlAPI(ingest: options.ingest)
        do {
            return try HTTPServer(options.control) { request, exchange in
                let reply = api.handle(
                    ControlRequest(request), &stage.simulator, nowMicroseconds: Stage.nowMicroseconds())
                if let effect = reply.effect { for listener in listeners { listener.perform(effect) } }
                exchange.respond(
                    status: reply.status, headers: ["Content-Type": "application/json"], body: reply.body)
            }
        } catch {
            throw StartFault(exitCode: 75, message: "\(options.control): \(error)")
        }
    }
}

extension ControlRequest {
    /// Takes over a request of the HTTP server; of a query item given twice the first counts.
    init(_ request: HTTPRequest) {
        self.init(
            method: request.method, segments: request.segments,
            query: Dictionary(request.queryItems.map { ($0.name, $0.value) }) { first, _ in first },
            body: request.body)
    }
}
