/// JSON text with places for a phone's number.
///
/// `{n}` becomes the number and `{n%7}` its remainder; `"{=n%7}"`, quotes included, becomes a JSON number.
enum NumberTemplate {
    /// Fills a template in.
    static func fill(_ template: [UInt8], number: Int) -> [UInt8] {
        var filled: [UInt8] = []
        filled.reserveCapacity(template.count + 8)
        var place = template.startIndex
        while place < template.endIndex {
            if let (value, end) = hole(template, at: place, number: number) {
                filled += String(value).utf8
                place = end
            } else {
                filled.append(template[place])
                place += 1
            }
        }
        return filled
    }

    private static func hole(_ text: [UInt8], at start: Int, number: Int) -> (value: Int, end: Int)? {
        let isQuoted = text[start...].starts(with: Array("\"{=n".utf8))
        let opening = isQuoted ? 4 : 2
        guard isQuoted || text[start...].starts(with: Array("{n".utf8)) else { return nil }
        guard let close = text[(start + opening)...].firstIndex(of: UInt8(ascii: "}")) else { return nil }
        guard let value = value(text[(start + opening)..<close], number) else { return nil }
        guard isQuoted else { return (value, close + 1) }
        return close + 1 < text.endIndex && text[close + 1] == UInt8(ascii: "\"") ? (value, close + 2) : nil
    }

    /// The number itself, or its remainder by what follows `%`.
    private static func value(_ rule: ArraySlice<UInt8>, _ number: Int) -> Int? {
        if rule.isEmpty { return number }
        guard rule.first == UInt8(ascii: "%"),
            let divisor = Int(String(decoding: rule.dropFirst(), as: UTF8.self)),
            divisor > 0
        else { return nil }
        return number % divisor
    }
}
