import Contracts
import JSON
import Telemetry
import Web

extension Configuration.HTTP {
    init(_ section: Section, directory: String) {
        self.init()
        if let text = section.string("listen") {
            listen = text
            checkAddress(text, section, "listen")
        }
        certificateFile = section.file("certificateFile", in: directory)
        keyFile = section.file("keyFile", in: directory)
        if let value = section.integer("connectionsMax", in: 16...1_000_000) { connectionsMax = Int(value) }
        if (certificateFile == nil) != (keyFile == nil) {
            section.fault(
                certificateFile == nil ? "certificateFile" : "keyFile", "is missing beside the other")
        }
        section.finish()
    }
}

extension Configuration.APNs {
    init(_ section: Section, directory: String) {
        self.init()
        production = Configuration.APNs.url("production", section) ?? production
        sandbox = Configuration.APNs.url("sandbox", section) ?? sandbox
        let hosts = section.section("channels")
        channels.production = Configuration.APNs.url("production", hosts) ?? channels.production
        channels.sandbox = Configuration.APNs.url("sandbox", hosts) ?? channels.sandbox
        hosts.finish()
        caFile = section.file("caFile", in: directory)
        if let text = section.string("proxy") {
            proxy = text
            if ProxyAddress(text) == nil {
                section.fault(
                    "proxy", "must be http://, perhaps user:password@, a host, and a port")
            }
        }
        section.finish()
    }

    private static func url(_ name: String, _ section: Section) -> String? {
        guard let text = section.string(name) else { return nil }
        guard Endpoint(text) != nil else {
            section.fault(name, "must be https://, a host, and perhaps a port")
            return nil
        }
        return text
    }
}

extension Configuration.Log {
    init(_ section: Section) {
        self.init()
        if let text = section.string("level") {
            level = text
            if LogLevel(name: text) == nil {
                let names = LogLevel.allCases.map(\.name).joined(separator: ", ")
                section.fault("level", "must be one of \(names)")
            }
        }
        json = section.bool("json") ?? json
        section.finish()
    }
}

extension DeliverySettings {
    /// Reads settings over others: those that are not named stay as they are there.
    init(_ section: Section, defaults: DeliverySettings) {
        self = defaults
        let day: Int64 = 86_400
        @discardableResult
        func seconds(
            _ name: String, _ place: WritableKeyPath<DeliverySettings, Int64>, _ least: Int64 = 1
        ) -> Bool {
            guard let value = section.integer(name, in: least...(14 * day)) else { return false }
            self[keyPath: place] = value
            return true
        }
        seconds("intervalSeconds", \.intervalSeconds, 0)
        seconds("frequentIntervalSeconds", \.frequentIntervalSeconds, 0)
        if let value = section.integer("burst", in: 1...100) { burst = Int(value) }
        if let value = section.integer("startBurst", in: 1...1_000) { startBurst = Int(value) }
        seconds("startRefillSeconds", \.startRefillSeconds)
        seconds("tokenWaitSeconds", \.tokenWaitSeconds)
        let namesActive = seconds("activeSeconds", \.activeSeconds)
        let namesRemove = seconds("removeSeconds", \.removeSeconds)
        seconds("startExpirationSeconds", \.startExpirationSeconds)
        seconds("updateExpirationSeconds", \.updateExpirationSeconds)
        seconds("endExpirationSeconds", \.endExpirationSeconds)
        seconds("answerDeadlineSeconds", \.answerDeadlineSeconds)
        seconds("sendBeforeSeconds", \.sendBeforeSeconds)
        if removeSeconds < activeSeconds {
            // Inherited values that do not go together were reported where they stand.
            if namesRemove {
                section.fault("removeSeconds", "is less than activeSeconds")
            } else if namesActive {
                section.fault("activeSeconds", "is more than removeSeconds")
            }
        }
        section.finish()
    }
}

extension Section {
    /// A member that names a file, made absolute against a directory.
    func file(_ name: String, in directory: String) -> String? {
        guard let text = string(name) else { return nil }
        guard !text.isEmpty else {
            fault(name, "is empty")
            return nil
        }
        return text.hasPrefix("/") ? text : "\(directory)/\(text)"
    }
}

extension Unicode.Scalar {
    /// Whether it is a printable ASCII character other than a space.
    var isVisible: Bool { value > 0x20 && value < 0x7F }
}

/// Notes a fault unless a text is an address to listen at.
func checkAddress(_ text: String, _ section: Section, _ name: String) {
    guard (try? HTTPAddress(parsing: text)) == nil else { return }
    section.fault(name, "must be address:port, [address]:port or unix:path")
}
