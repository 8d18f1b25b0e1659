/// One option of a subcommand.
struct CommandOption<Command> {
    /// Its name with dashes, such as `--config`.
    var name: String
    /// What stands for its value in the help; nil when it has none.
    var placeholder: String?
    /// What it does, and in parentheses what holds without it.
    var help: String
    /// What its value must be, in words.
    var expects = "something else"
    /// Takes the value over; false when it is not understood.
    var apply: (inout Command, String) -> Bool
}

extension CommandOption {
    /// An option that takes any text but an empty one.
    static func text(
        _ name: String, _ placeholder: String, _ help: String, _ field: WritableKeyPath<Command, String>
    ) -> CommandOption {
        CommandOption(name: name, placeholder: placeholder, help: help, expects: "a text") { command, value in
            command[keyPath: field] = value
            return !value.isEmpty
        }
    }

    /// An option that takes any text but an empty one, and has no default.
    static func text(
        _ name: String, _ placeholder: String, _ help: String, _ field: WritableKeyPath<Command, String?>
    ) -> CommandOption {
        CommandOption(name: name, placeholder: placeholder, help: help, expects: "a text") { command, value in
            command[keyPath: field] = value
            return !value.isEmpty
        }
    }

    /// An option that takes texts with commas between them, and may be given again for more.
    static func list(
        _ name: String, _ placeholder: String, _ help: String, _ field: WritableKeyPath<Command, [String]>
    ) -> CommandOption {
        CommandOption(
            name: name, placeholder: placeholder, help: help, expects: "texts with commas between them"
        ) { command, value in
            let parts = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            command[keyPath: field] += parts
            return !parts.contains("")
        }
    }

    /// An option that takes a whole number of a range.
    static func number<Number: FixedWidthInteger>(
        _ name: String, _ help: String, _ range: ClosedRange<Number>,
        _ field: WritableKeyPath<Command, Number>
    ) -> CommandOption {
        CommandOption(
            name: name, placeholder: "N", help: help,
            expects: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) { command, value in
            guard let number = Number(value), range.contains(number) else { return false }
            command[keyPath: field] = number
            return true
        }
    }

    /// An option that takes a whole number of a range, and has no default.
    static func number<Number: FixedWidthInteger>(
        _ name: String, _ help: String, _ range: ClosedRange<Number>,
        _ field: WritableKeyPath<Command, Number?>
    ) -> CommandOption {
        CommandOption(
            name: name, placeholder: "N", help: help,
            expects: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) { command, value in
            guard let number = Number(value), range.contains(number) else { return false }
            command[keyPath: field] = number
            return true
        }
    }

    /// An option without a value.
    static func flag(_ name: String, _ help: String, _ field: WritableKeyPath<Command, Bool>) -> CommandOption
    {
        CommandOption(name: name, help: help) { command, _ in
            command[keyPath: field] = true
            return true
        }
    }
}
