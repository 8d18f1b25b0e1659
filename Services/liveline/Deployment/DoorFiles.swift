import Crypto
import FoundationEssentials
import Service
import Web

/// The certificate and the key with which the HTTP door speaks TLS.
struct DoorFiles {
    private let http: Configuration.HTTP

    init(_ http: Configuration.HTTP) {
        self.http = http
    }

    /// What is wrong with them, each alone and both together.
    var faults: [String] {
        let certificate = http.certificateFile.map {
            Self.read("http.certificateFile", $0, label: "CERTIFICATE", what: "certificate")
        }
        let key = http.keyFile.map {
            Self.read("http.keyFile", $0, label: "PRIVATE KEY", what: "private key")
        }
        switch (certificate, key) {
        case (.success(let certificate), .success(let key)): return together(certificate, key)
        default: return [certificate, key].compactMap { $0?.fault }
        }
    }

    /// Certificates of the chain that do not hold at an instant.
    func warnings(at now: Date) -> [String] {
        guard let file = http.certificateFile, let text = try? String(contentsOfFile: file, encoding: .utf8)
        else { return [] }
        return CertificateDates.all(pem: Array(text.utf8)).compactMap { dates -> String? in
            let (begin, end) = (Self.date(dates.notBeforeSeconds), Self.date(dates.notAfterSeconds))
            if end < now { return "http.certificateFile: \(file) has expired, on \(end.ISO8601Format())" }
            return begin > now
                ? "http.certificateFile: \(file) is not valid before \(begin.ISO8601Format())" : nil
        }
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    /// Listens with them for a moment, since the door takes what its library takes.
    private func together(_ certificate: String, _ key: String) -> [String] {
        do {
            let identity = TLSIdentity(certificatePEM: certificate, keyPEM: key)
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0), identity: identity) { _, _ in }
            server.close()
            return []
        } catch {
            // Anything else is a matter of this host and of the moment, not of the files.
            guard error.reason == .library else { return [] }
            return ["http.certificateFile: cannot be used, or does not go with http.keyFile"]
        }
    }

    private static func read(
        _ path: String, _ file: String, label: String, what: String
    ) -> Result<String, FileFault> {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            return .failure(FileFault(text: "\(path): \(file) cannot be read as text"))
        }
        let isThere = text.split(whereSeparator: \.isNewline).contains {
            $0.hasPrefix("-----BEGIN ") && $0.contains("\(label)-----")
        }
        guard isThere else { return .failure(FileFault(text: "\(path): \(file) holds no \(what)")) }
        return .success(text)
    }
}

/// What is wrong with a file.
private struct FileFault: Error {
    let text: String
}

extension Result where Failure == FileFault {
    fileprivate var fault: String? {
        guard case .failure(let fault) = self else { return nil }
        return fault.text
    }
}
