/// The bytes that a string or name stands for, given what lies between its quotes and is known to be valid.
func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
        guard text[index] == UInt8(ascii: "\\") else {
            result.append(text[index])
            index += 1
            continue
        }
        let letter = text[index + 1]
        guard letter == UInt8(ascii: "u") else {
            result.append(shortEscape(letter))
            index += 2
            continue
        }
        appendUnicodeEscape(in: text, at: &index, to: &result)
    }
    return result
}

private func shortEscape(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
}

private func appendUnicodeEscape(
    in text: ArraySlice<UInt8>, at index: inout Int, to result: inout [UInt8]
) {
    var code = codeUnit(in: text, at: index)
    index += 6
    if (0xD800...0xDBFF).contains(code) {
        code = 0x10000 + ((code - 0xD800) << 10) + (codeUnit(in: text, at: index) - 0xDC00)
        index += 6
    }
    appendUTF8(code, to: &result)
}

private func codeUnit(in text: ArraySlice<UInt8>, at index: Int) -> UInt32 {
    text[index + 2..<index + 6].reduce(0) { $0 << 4 | (hexDigit($1) ?? 0) }
}

private func appendUTF8(_ code: UInt32, to result: inout [UInt8]) {
    func continuation(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(code >> shift & 0x3F) }
    switch code {
    case ..<0x80: result.append(UInt8(code))
    case ..<0x800: result += [0xC0 | UInt8(code >> 6), continuation(0)]
    case ..<0x10000: result += [0xE0 | UInt8(code >> 12), continuation(6), continuation(0)]
    default: result += [0xF0 | UInt8(code >> 18), continuation(12), continuation(6), continuation(0)]
    }
}
