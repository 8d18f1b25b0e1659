/// One option of a command line, and what it does to the settings that the line is read into.
public struct CommandOption<Settings> {
    /// Its name with dashes, such as `--config`.
    public let name: String
    /// What stands for its value in the help; nil when it has none.
    public let placeholder: String?
    /// What it does, and in parentheses what holds without it.
    public let help: String
    /// What its value must be, in words.
    let expects: String
    /// Takes the value over; false when it is not understood.
    let apply: (inout Settings, String) -> Bool

    /// Makes an option.
    ///
    /// - Parameters:
    ///   - name: its name with dashes.
    ///   - placeholder: what stands for its value in the help; nil for an option without a value.
    ///   - help: what it does, and in parentheses what holds without it.
    ///   - expects: what its value must be, in words.
    ///   - apply: takes the value over, an empty one where there is none; false when it is not understood.
    public init(
        name: String, placeholder: String? = nil, help: String, expects: String = "something else",
        apply: @escaping (inout Settings, String) -> Bool
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.expects = expects
        self.apply = apply
    }
}

// MARK: - The usual kinds

extension CommandOption {
    /// An option that takes any text but an empty one.
    public static func text(
        _ name: String, _ placeholder: String, _ help: String, _ field: WritableKeyPath<Settings, String>
    ) -> CommandOption {
        CommandOption(name: name, placeholder: placeholder, help: help, expects: "a text") {
            $0[keyPath: field] = $1
            return !$1.isEmpty
        }
    }

    /// An option that takes any text but an empty one, and has no default.
    public static func text(
        _ name: String, _ placeholder: String, _ help: String, _ field: WritableKeyPath<Settings, String?>
    ) -> CommandOption {
        CommandOption(name: name, placeholder: placeholder, help: help, expects: "a text") {
            $0[keyPath: field] = $1
            return !$1.isEmpty
        }
    }

    /// An option that takes texts with commas between them, and may be given again for more.
    public static func list(
        _ name: String, _ placeholder: String, _ help: String, _ field: WritableKeyPath<Settings, [String]>
    ) -> CommandOption {
        CommandOption(
            name: name, placeholder: placeholder, help: help, expects: "texts with commas between them"
        ) {
            let parts = $1.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            $0[keyPath: field] += parts
            return !parts.contains("")
        }
    }

    /// An option that takes a whole number from `range`.
    public static func number<Number: FixedWidthInteger>(
        _ name: String, _ help: String, _ range: ClosedRange<Number>,
        _ field: WritableKeyPath<Settings, Number>
    ) -> CommandOption {
        number(name, help, range) { $0[keyPath: field] = $1 }
    }

    /// An option that takes a whole number from `range`, and has no default.
    public static func number<Number: FixedWidthInteger>(
        _ name: String, _ help: String, _ range: ClosedRange<Number>,
        _ field: WritableKeyPath<Settings, Number?>
    ) -> CommandOption {
        number(name, help, range) { $0[keyPath: field] = $1 }
    }

    /// An option that takes a whole number of `least` or more.
    public static func number<Number: FixedWidthInteger>(
        _ name: String, _ help: String, least: Number = 0, _ field: WritableKeyPath<Settings, Number>
    ) -> CommandOption {
        number(name, help, least...Number.max) { $0[keyPath: field] = $1 }
    }

    private static func number<Number: FixedWidthInteger>(
        _ name: String, _ help: String, _ range: ClosedRange<Number>,
        _ take: @escaping (inout Settings, Number) -> Void
    ) -> CommandOption {
        let bounds =
            range.upperBound == Number.max
            ? "of \(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
        return CommandOption(name: name, placeholder: "N", help: help, expects: "a number \(bounds)") {
            guard let number = Number($1), range.contains(number) else { return false }
            take(&$0, number)
            return true
        }
    }

    /// An option without a value, which sets a member to `value`.
    public static func flag(
        _ name: String, _ help: String, _ field: WritableKeyPath<Settings, Bool>, _ value: Bool = true
    ) -> CommandOption {
        CommandOption(name: name, help: help) { settings, _ in
            settings[keyPath: field] = value
            return true
        }
    }
}
