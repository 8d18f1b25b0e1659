/// Numbers as people read them.
enum Numbers {
    /// With a comma between thousands.
    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// With so many digits behind the point, rounded.
    static func fixed(_ number: Double, _ digits: Int) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "-" }
        let scale = (0..<digits).reduce(1.0) { product, _ in product * 10 }
        let whole = Int((abs(number) * scale).rounded())
        let sign = number < 0 && whole > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let tail = String(whole % Int(scale))
        return "\(sign)\(whole / Int(scale)).\(String(repeating: "0", count: digits - tail.count))\(tail)"
    }

    /// Microseconds as milliseconds.
    static func milliseconds(_ microseconds: Int64) -> String { fixed(Double(microseconds) / 1_000, 2) }
}
