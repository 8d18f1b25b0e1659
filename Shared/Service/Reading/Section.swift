import JSON

/// What is found wrong or doubtful while a configuration is read.
final class Findings {
    var faults: [ConfigurationFault] = []
    var warnings: [ConfigurationFault] = []
    let environment: [String: String]
    var environmentNamesUsed: Set<String> = []

    init(environment: [String: String]) {
        self.environment = environment
    }

    func fault(_ path: String, _ problem: String) { faults.append(ConfigurationFault(path, problem)) }
    func warn(_ path: String, _ problem: String) { warnings.append(ConfigurationFault(path, problem)) }
}

/// One object of the configuration file, whose members are asked for by name.
///
/// A member that is `null` counts as absent. Members that nobody asked for are faults (`finish`).
final class Section {
    let path: String
    let findings: Findings
    private let value: JSONValue?
    /// Whether the environment may stand in for scalars: not inside of lists.
    private let readsEnvironment: Bool
    private var asked: Set<String> = []

    init(_ value: JSONValue?, path: String, findings: Findings, readsEnvironment: Bool = true) {
        if let value, value.kind != .object {
            findings.fault(path, "\(value.kind.words), must be an object")
            self.value = nil
        } else {
            self.value = value
        }
        self.path = path
        self.findings = findings
        self.readsEnvironment = readsEnvironment
    }

    /// The path of a member.
    func path(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    /// Notes that something is wrong with a member.
    func fault(_ name: String, _ problem: String) { findings.fault(path(name), problem) }

    /// A member, unless it is absent or `null`.
    func member(_ name: String) -> JSONValue? {
        asked.insert(name)
        guard let member = value?[name], !member.isNull else { return nil }
        return member
    }

    /// A member that is an object; an empty one where it is absent.
    func section(_ name: String) -> Section {
        Section(member(name), path: path(name), findings: findings, readsEnvironment: readsEnvironment)
    }

    /// The elements of a member that is a list of objects; empty where it is absent.
    func sections(_ name: String) -> [Section] {
        guard let elements = elements(name) else { return [] }
        return elements.enumerated().map { index, element in
            Section(
                element, path: "\(path(name))[\(index)]", findings: findings, readsEnvironment: false)
        }
    }

    /// The elements of a member that is a list of strings, with their paths; nil where it is absent.
    func strings(_ name: String) -> [(path: String, text: String)]? {
        elements(name)?.enumerated().compactMap { index, element in
            let path = "\(path(name))[\(index)]"
            guard let text = element.string else {
                findings.fault(path, "\(element.kind.words), must be a string")
                return nil
            }
            return (path, text)
        }
    }

    private func elements(_ name: String) -> JSONElements? {
        guard let member = member(name) else { return nil }
        guard let elements = member.elements else {
            fault(name, "\(member.kind.words), must be a list")
            return nil
        }
        return elements
    }

    /// A member that is a string.
    func string(_ name: String) -> String? {
        let member = member(name)
        if let text = environmentText(name) { return text }
        guard let member else { return nil }
        guard let text = member.string else {
            fault(name, "\(member.kind.words), must be a string")
            return nil
        }
        guard !text.utf8.contains(0) else {
            fault(name, "holds a zero byte")
            return nil
        }
        return text
    }

    /// A member that is a whole number.
    func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        let member = member(name)
        let text = environmentText(name)
        guard member != nil || text != nil else { return nil }
        guard let number = text.map({ Int64($0) }) ?? member?.int64 else {
            fault(name, "must be a whole number")
            return nil
        }
        guard range.contains(number) else {
            fault(name, "\(number), must be from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    /// A member that is `true` or `false`.
    func bool(_ name: String) -> Bool? {
        let member = member(name)
        let text = environmentText(name)
        guard member != nil || text != nil else { return nil }
        guard let bool = text.map({ Bool($0) }) ?? member?.bool else {
            fault(name, "must be true or false")
            return nil
        }
        return bool
    }

    /// A member that is one of a few words.
    func word<Word: RawRepresentable & CaseIterable>(_ name: String, _ type: Word.Type) -> Word?
    where Word.RawValue == String {
        guard let text = string(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            fault(name, "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
            return nil
        }
        return word
    }

    /// A member that must be there and not be empty; a fault otherwise.
    func required(_ name: String) -> String? {
        guard member(name) != nil else {
            fault(name, "is missing")
            return nil
        }
        guard let text = string(name) else { return nil }
        guard !text.isEmpty else {
            fault(name, "is empty")
            return nil
        }
        return text
    }

    /// Refuses by name the members that nobody asked for.
    func finish() {
        guard let members = value?.members else { return }
        for member in members where !asked.contains(member.name) {
            findings.fault(value?.path(of: member.name) ?? member.name, "unknown member")
        }
    }

    private func environmentText(_ name: String) -> String? {
        guard readsEnvironment else { return nil }
        let variable = EnvironmentName.of(path(name))
        findings.environmentNamesUsed.insert(variable)
        guard let text = findings.environment[variable], !text.isEmpty else { return nil }
        return text
    }
}

/// The environment variable that stands in for a scalar of the file.
enum EnvironmentName {
    static let prefix = "LIVELINE_"

    /// `http.certificateFile` is `LIVELINE_HTTP_CERTIFICATE_FILE`.
    static func of(_ path: String) -> String {
        path.reduce(into: prefix) { name, character in
            switch character {
            case ".", "-": name += "_"
            case _ where character.isUppercase: name += "_\(character)"
            default: name += character.uppercased()
            }
        }
    }
}

extension JSONValue.Kind {
    fileprivate var words: String {
        switch self {
        case .object: "an object"
        case .array: "a list"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}
