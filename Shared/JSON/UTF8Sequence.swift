/// The number of bytes of the well-formed sequence at an offset; `nil` when there is none.
///
/// The Unicode Standard, table 3-7: overlong forms, encoded surrogates and what lies beyond U+10FFFF are ill-formed.
func utf8SequenceLength(in bytes: [UInt8], at offset: Int) -> Int? {
    let lead = bytes[offset]
    guard lead >= 0x80 else { return 1 }
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard offset + length <= bytes.count, second.contains(bytes[offset + 1]) else { return nil }
    for index in offset + 2..<offset + length where bytes[index] & 0xC0 != 0x80 { return nil }
    return length
}
