import JSON

/// What an alert must be for anybody to notice it.
///
/// A text, or an object with a title or a body. Each is a text or names one of the app's own with `loc-key` and
/// `loc-args`; `sound` is a file of the app's or `default`. Members beside these go out as they came (Apple, Starting and
/// updating Live Activities with ActivityKit push notifications; Generating a remote notification).
enum AlertRule {
    /// The members that say something, also in the spelling of ordinary notifications.
    static let titles = ["title", "title-loc-key"]
    /// The same for the body.
    static let bodies = ["body", "loc-key"]

    /// Checks an alert.
    static func check(_ value: JSONValue) throws(Refusal) {
        if let text = value.string {
            guard !text.isBlank else { throw ObjectReader.wrong(value, "must not be empty", label: "alert") }
            return
        }
        guard value.kind == .object else { throw ObjectReader.wrong(value, "must be an object or a string") }
        let alert = try ObjectReader(value)
        for member in ["title", "body"] { try checkWords(alert, member) }
        let hasTitle = titles.contains { says(alert.value[$0]) }
        guard hasTitle || bodies.contains(where: { says(alert.value[$0]) }) else {
            throw ObjectReader.wrong(value, "must have a title or a body", label: "alert")
        }
        guard let sound = alert.value["sound"] else { return }
        _ = try Texts.text(sound)
        guard hasTitle else { throw alert.wrong("sound", "needs a title beside it", label: "alert") }
    }

    private static func checkWords(_ alert: ObjectReader, _ member: String) throws(Refusal) {
        guard let value = alert.value[member], value.string == nil else { return }
        guard value.kind == .object else {
            throw ObjectReader.wrong(value, "must be a string, or an object with loc-key")
        }
        let words = try ObjectReader(value)
        _ = try words.requiredText("loc-key")
        guard let arguments = words.value["loc-args"] else { return }
        guard let elements = arguments.elements, elements.allSatisfy({ $0.string != nil }) else {
            throw ObjectReader.wrong(arguments, "must be an array of strings")
        }
    }

    private static func says(_ value: JSONValue?) -> Bool {
        guard let value else { return false }
        return value.string.map { !$0.isBlank } ?? (value.kind == .object)
    }
}
