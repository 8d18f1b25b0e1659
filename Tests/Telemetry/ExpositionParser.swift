/// A strict reader of one line of Prometheus' text format, written apart from what writes it.
enum ExpositionLine: Equatable {
    case help(name: String, text: String)
    case type(name: String, kind: String)
    case sample(name: String, labels: [[String]], value: Double)

    /// `nil` when the line is not valid.
    init?(_ line: String) {
        var rest = Substring(line)
        if rest.hasPrefix("# ") {
            let words = rest.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(
                String.init)
            guard words.count == 4, ExpositionLine.isName(words[2]) else { return nil }
            switch words[1] {
            case "HELP": self = .help(name: words[2], text: words[3])
            case "TYPE" where ["counter", "gauge"].contains(words[3]):
                self = .type(name: words[2], kind: words[3])
            default: return nil
            }
            return
        }
        let name = ExpositionLine.take(&rest) { $0.isLetter || $0.isNumber || $0 == "_" || $0 == ":" }
        guard ExpositionLine.isName(name), let labels = ExpositionLine.labels(&rest) else { return nil }
        guard rest.popFirst() == " ", let value = Double(rest), !rest.contains(" ") else { return nil }
        self = .sample(name: name, labels: labels, value: value)
    }

    private static func labels(_ rest: inout Substring) -> [[String]]? {
        guard rest.first == "{" else { return [] }
        rest.removeFirst()
        var labels: [[String]] = []
        while true {
            let name = take(&rest) { $0 != "=" }
            guard isName(name), rest.popFirst() == "=", rest.popFirst() == "\"", let value = value(&rest)
            else {
                return nil
            }
            labels.append([name, value])
            switch rest.popFirst() {
            case ",": continue
            case "}": return labels
            default: return nil
            }
        }
    }

    private static func value(_ rest: inout Substring) -> String? {
        var value = ""
        while let scalar = rest.unicodeScalars.popFirst() {
            switch scalar {
            case "\"": return value
            case "\n": return nil
            case "\\":
                switch rest.unicodeScalars.popFirst() {
                case "\\": value += "\\"
                case "\"": value += "\""
                case "n": value.unicodeScalars.append("\n")
                default: return nil
                }
            default: value.unicodeScalars.append(scalar)
            }
        }
        return nil
    }

    private static func take(_ rest: inout Substring, while isWanted: (Character) -> Bool) -> String {
        let taken = rest.prefix(while: isWanted)
        rest = rest.dropFirst(taken.count)
        return String(taken)
    }

    private static func isName(_ word: String) -> Bool {
        guard let first = word.first, !first.isNumber else { return false }
        return word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
    }
}
