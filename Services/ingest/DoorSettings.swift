import Crypto
import FoundationEssentials
import Service
import Telemetry
import Web

/// What the HTTP door takes from the configuration, and what of it can change while it is open.
struct DoorSettings {
    /// The descriptors that are not connections: the bus, the store, what lingers.
    static let otherDescriptors = 512

    let http: Configuration.HTTP
    let logger: Logger

    init(_ context: ServiceContext) {
        http = context.configuration.http
        logger = context.logger
    }

    /// The certificate and key; nil for plain HTTP.
    ///
    /// - Throws: `ServiceFailure` if a file cannot be read.
    func identity() throws(ServiceFailure) -> TLSIdentity? {
        guard let certificate = http.certificateFile, let key = http.keyFile else { return nil }
        let identity = TLSIdentity(certificatePEM: try read(certificate), keyPEM: try read(key))
        if PrivateFile.isOpenToOthers(key) {
            logger.warning("key-file-open", ["problem": "\(key) can be read by every user"])
        }
        return identity
    }

    /// What clients are granted: as many connections as there can be descriptors.
    func limits() -> HTTPServerLimits {
        var limits = HTTPServerLimits()
        let descriptors = raiseDescriptorLimit(to: http.connectionsMax + DoorSettings.otherDescriptors)
        limits.connectionsMax = min(http.connectionsMax, max(16, descriptors - DoorSettings.otherDescriptors))
        if limits.connectionsMax < http.connectionsMax {
            logger.warning(
                "connections-limited",
                ["connections_max": limits.connectionsMax, "descriptors_max": descriptors])
        }
        return limits
    }

    /// Has a server go by these settings in the place of its former ones.
    ///
    /// A certificate that does not serve leaves the former one; an address needs a restart.
    func apply(to server: HTTPServer, before: Configuration.HTTP) {
        let isEncrypted = before.certificateFile != nil
        if http.listen != before.listen || http.connectionsMax != before.connectionsMax
            || isEncrypted != (http.certificateFile != nil)
        {
            logger.warning("restart-needed", ["path": "http"])
        }
        guard isEncrypted else { return }
        do {
            guard let identity = try identity() else { return }
            try server.replaceIdentity(identity)
            logger.info("certificate-read")
        } catch {
            logger.warning("certificate-kept", ["problem": "\(error)"])
        }
    }

    private func read(_ path: String) throws(ServiceFailure) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ServiceFailure(.configuration, "http", "cannot read \(path)")
        }
    }
}
