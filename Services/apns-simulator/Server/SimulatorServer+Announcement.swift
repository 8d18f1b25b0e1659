import Telemetry
import Web

extension SimulatorServer {
    /// Says in one line that everything listens, and where.
    func announce(on logger: Logger) {
        var fields: LogFields = ["control": controlAddress]
        let addresses = options.listens + options.channelListens
        for ((environment, address), listener) in zip(addresses, listeners) {
            let place = ListenAddress(host: address.host, port: listener.port)
            let name = environment.rawValue + (listener.managesChannels ? "-channels" : "")
            fields.append(name, place.description)
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
