import Telemetry
import Web

extension SimulatorServer {
    /// Says in one line that everything listens, and where.
    func announce(on logger: Logger) {
        var fields: LogFields = ["control": controlAddress]
        for ((environment, address), listener) in zip(options.listens, listeners) {
            let place = ListenAddress(host: address.host, port: listener.port)
            fields.append(environment.rawValue, place.description)
        }
        logger.info("ready", fields)
    }

    private var controlAddress: String {
        guard case .tcp(let host, _) = options.control, let port = control.port else {
            return options.control.description
        }
        return HTTPAddress.tcp(host: host, port: port).description
    }
}
