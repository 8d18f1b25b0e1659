/// All options of a command line, in the order in which its help shows them.
public struct CommandOptions<Settings> {
    private let options: [CommandOption<Settings>]

    /// Joins options; each name stands once.
    public init(_ options: [CommandOption<Settings>]) {
        self.options = options
    }

    /// Takes one option of a command line, with its value: the rest of the word behind `=`, else the next word.
    ///
    /// - Parameters:
    ///   - word: the word with the option's name.
    ///   - rest: the words behind it; a value that is one of them is removed.
    ///   - settings: what the option changes.
    /// - Returns: what is wrong with it, in words that name it; nil if nothing is.
    public func take(_ word: String, _ rest: inout ArraySlice<String>, into settings: inout Settings)
        -> String?
    {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let option = options.first(where: { $0.name == parts[0] }) else {
            return "\(parts[0]): unknown option"
        }
        guard option.placeholder != nil else {
            return parts.count == 1 && option.apply(&settings, "") ? nil : "\(option.name): takes no value"
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            return "\(option.name): a value is missing"
        }
        return option.apply(&settings, value) ? nil : "\(option.name) \(value): \(option.expects) is expected"
    }

    /// The lines of the help, one an option, in two columns.
    public var help: [String] {
        let left = options.map { [$0.name, $0.placeholder].compactMap { $0 }.joined(separator: " ") }
        let width = left.map(\.count).max() ?? 0
        return zip(left, options).map { left, option in
            "  \(left)\(String(repeating: " ", count: width - left.count))  \(option.help)"
        }
    }
}
