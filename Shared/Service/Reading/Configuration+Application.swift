import Contracts
import Crypto
import JSON

extension Configuration.Application {
    /// Reads one application; nil if it has no name to be known by.
    init?(_ section: Section, delivery defaults: DeliverySettings, directory: String) {
        let code = section.required("code")
        let bundleID = section.required("bundleId")
        self.init(code: code ?? "", bundleID: bundleID ?? "")
        checkNames(section)
        firebaseProject = section.string("firebaseProject")
        if firebaseProject?.isEmpty == true { section.fault("firebaseProject", "is empty") }
        environment = section.word("environment", APNsEnvironment.self) ?? environment
        apiTokenDigests = section.digests("apiTokens") ?? []
        deviceTokenDigests = section.digests("deviceTokens")
        if deviceTokenDigests == nil {
            section.findings.warn(
                section.path("deviceTokens"), "is missing: the calls that phones make are not checked")
        }
        if apiTokenDigests.isEmpty {
            section.findings.warn(section.path("apiTokens"), "is missing or empty: no server can call")
        }
        frequent = section.bool("frequent") ?? frequent
        pushwooshAttributes = section.bool("pushwooshAttributes") ?? pushwooshAttributes
        keys = section.sections("keys").compactMap { Configuration.Key($0, directory: directory) }
        checkKeys(section)
        serviceAccounts = section.sections("serviceAccounts").compactMap {
            Configuration.ServiceAccount($0, directory: directory)
        }
        delivery = DeliverySettings(section.section("delivery"), defaults: defaults)
        section.finish()
        if code == nil || bundleID == nil { return nil }
    }

    private func checkNames(_ section: Section) {
        let isCode = code.utf8.count <= 64 && code.unicodeScalars.allSatisfy(\.isVisible)
        if !isCode { section.fault("code", "must be at most 64 visible ASCII characters") }
        let isBundleID =
            bundleID.utf8.count <= 155
            && bundleID.unicodeScalars.allSatisfy { $0.isLetterOrDigit || $0 == "." || $0 == "-" }
        if !isBundleID { section.fault("bundleId", "must be letters, digits, dots and hyphens") }
        if bundleID.contains(".push-type.") {
            section.fault("bundleId", "must be the app's bundle id, without .push-type and what follows")
        }
    }

    private func checkKeys(_ section: Section) {
        if section.sections("keys").isEmpty {
            section.findings.warn(section.path("keys"), "is missing or empty: nothing can be sent")
        }
        for environment in APNsEnvironment.allCases {
            let serving = keys.filter { $0.environment == nil || $0.environment == environment }
            guard serving.count > 1 else { continue }
            section.findings.warn(
                section.path("keys"), "more than one serves \(environment.rawValue): the first is used")
        }
    }
}

extension Configuration.Key {
    fileprivate init?(_ section: Section, directory: String) {
        let teamID = section.appleID("teamId")
        let keyID = section.appleID("keyId")
        let file = section.member("file") == nil ? nil : section.file("file", in: directory)
        if section.member("file") == nil { section.fault("file", "is missing") }
        let environment = section.word("environment", APNsEnvironment.self)
        section.finish()
        guard let teamID, let keyID, let file else { return nil }
        self.init(teamID: teamID, keyID: keyID, file: file, environment: environment)
    }
}

extension Configuration.ServiceAccount {
    fileprivate init?(_ section: Section, directory: String) {
        let clientEmail = section.required("clientEmail")
        if let clientEmail, !clientEmail.contains("@") { section.fault("clientEmail", "is no e-mail address") }
        let file = section.required("publicKeyFile").flatMap { _ in
            section.file("publicKeyFile", in: directory)
        }
        section.finish()
        guard let clientEmail, let file else { return nil }
        self.init(clientEmail: clientEmail, publicKeyFile: file)
    }
}

extension Section {
    /// A member that is a team id or key id: ten letters and digits (Apple, Establishing a token-based connection).
    fileprivate func appleID(_ name: String) -> String? {
        guard let text = required(name) else { return nil }
        guard text.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace }) else {
            fault(name, "has white space in it")
            return nil
        }
        guard text.unicodeScalars.count == 10 else {
            fault(name, "\(text.unicodeScalars.count) characters, must be 10")
            return nil
        }
        guard text.unicodeScalars.allSatisfy(\.isLetterOrDigit) else {
            fault(name, "must be letters and digits")
            return nil
        }
        return text
    }

    /// A member that is a list of tokens, each in clear or as `sha256:` and its digest.
    ///
    /// - Returns: the digests as 64 lower-case hex digits; nil where the member is absent.
    fileprivate func digests(_ name: String) -> [String]? {
        strings(name)?.compactMap { path, text in
            guard text.hasPrefix(Section.digestPrefix) else { return digest(ofClear: text, path) }
            let digits = text.dropFirst(Section.digestPrefix.count).lowercased()
            guard digits.utf8.count == 64, digits.unicodeScalars.allSatisfy(\.isHexDigit) else {
                findings.fault(path, "must have 64 hex digits behind \(Section.digestPrefix)")
                return nil
            }
            return digits
        }
    }

    private static let digestPrefix = "sha256:"

    private func digest(ofClear text: String, _ path: String) -> String? {
        guard !text.isEmpty, text.unicodeScalars.allSatisfy(\.isVisible) else {
            findings.fault(path, "must be visible ASCII characters without white space")
            return nil
        }
        return SHA256.hex(text)
    }
}

extension Unicode.Scalar {
    fileprivate var isLetterOrDigit: Bool {
        isASCII && (properties.isAlphabetic || properties.numericType == .decimal)
    }

    fileprivate var isHexDigit: Bool { ("0"..."9").contains(self) || ("a"..."f").contains(self) }
}
