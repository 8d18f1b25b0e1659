import JSON
import Testing

@Suite struct GrammarTests {
    @Test(arguments: [
        "0", "-0", "1.0", "-12.50", "1e5", "1E+05", "0e-0", "1e400", "9007199254740993", "true", "false",
        "null",
        #""""#, #""a""#, "[]", "{}", " \t\r\n1 \t\r\n", "[ ]", "{ }", "[1 , 2]", #"{ "a" : [ { } ] }"#,
        #""\"\\\/\b\f\n\r\t\u0000\uFFFF""#, #""\ud83d\udc68\u200D\uD83C\uDF73""#,
        "\"é\u{7F}\u{FFFF}\u{10FFFF}\"",
        #"{"":1}"#, #"{"a":{"a":{"a":1}}}"#, #"{"é":1,"e\u0301":2}"#, "\"\u{FEFF}\"",
    ])
    func `a text of the grammar is accepted and kept`(text: String) throws {
        let document = try JSONDocument(text: text)
        #expect(document.bytes == Array(text.utf8))
    }

    @Test(arguments: [
        ("", JSONError.Kind.unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("[", .unexpectedEnd, 1),
        ("{", .unexpectedEnd, 1), (#"{"a""#, .unexpectedEnd, 4), (#"{"a":"#, .unexpectedEnd, 5),
        ("[1", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3), (#""ab"#, .unexpectedEnd, 3),
        ("tru", .unexpectedEnd, 3),
        ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2),
        ("1e+", .unexpectedEnd, 3),
        (#""\"#, .unexpectedEnd, 2), (#""\u12"#, .unexpectedEnd, 5), (#""\ud83d"#, .unexpectedEnd, 7),
        ("[1,]", .expectedValue, 3), ("[,1]", .expectedValue, 1), ("}", .expectedValue, 0),
        ("+1", .expectedValue, 0),
        (".5", .expectedValue, 0), ("NaN", .expectedValue, 0), ("'a'", .expectedValue, 0),
        ("\0", .expectedValue, 0),
        ("[\u{A0}1]", .expectedValue, 1), ("// x", .expectedValue, 0), (#"{"a":}"#, .expectedValue, 5),
        ("{a:1}", .expectedName, 1), (#"{"a":1,}"#, .expectedName, 7), ("{]", .expectedName, 1),
        (#"{"a" 1}"#, .expectedColon, 5), (#"{"a","b"}"#, .expectedColon, 4),
        ("[1 2]", .expectedSeparator, 3), ("[1}", .expectedSeparator, 2),
        (#"{"a":1]"#, .expectedSeparator, 6),
        ("[1:2]", .expectedSeparator, 2), ("[0x1]", .expectedSeparator, 2),
        ("[nul]", .invalidLiteral, 1), ("True", .expectedValue, 0), ("trUe", .invalidLiteral, 0),
        ("01", .invalidNumber, 1), ("-01", .invalidNumber, 2), ("[1.]", .invalidNumber, 3),
        ("[1.e1]", .invalidNumber, 3),
        ("[1e]", .invalidNumber, 3), ("[1e+]", .invalidNumber, 4), ("[-]", .invalidNumber, 2),
        ("-a", .invalidNumber, 1),
        ("\"a\nb\"", .controlCharacter, 2), ("\"\0\"", .controlCharacter, 1),
        ("\"\u{1F}\"", .controlCharacter, 1),
        (#""a\x""#, .invalidEscape, 2), (#""\u00g0""#, .invalidEscape, 1), (#""\U0041""#, .invalidEscape, 1),
        (#""\ud83d""#, .loneSurrogate, 1), (#""\udc68""#, .loneSurrogate, 1),
        (#""\ud83dx\udc68""#, .loneSurrogate, 1),
        (#""\ud83d\ud83d\udc68""#, .loneSurrogate, 1), (#""\ud83d\n""#, .loneSurrogate, 1),
        (#""\ud83d\u0041""#, .loneSurrogate, 1), (#""\udc68\ud83d""#, .loneSurrogate, 1),
        ("1 2", .trailingBytes, 2), ("{}}", .trailingBytes, 2), ("[]\0", .trailingBytes, 2),
        ("nullx", .trailingBytes, 4),
        ("\u{FEFF}{}", .byteOrderMark, 0),
    ])
    func `a text outside the grammar is refused at its first wrong byte`(
        text: String, kind: JSONError.Kind, offset: Int
    ) {
        let error = refusal(text)
        #expect(error?.kind == kind)
        #expect(error?.byteOffset == offset)
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x91], [0xF0, 0x9F, 0x28, 0xA8],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 are refused where they begin`(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(refusal([quote, 0x61] + bytes + [quote])?.kind == .invalidUTF8)
        #expect(refusal([quote, 0x61] + bytes + [quote])?.byteOffset == 2)
        #expect(refusal([quote, 0x61] + bytes)?.kind == .invalidUTF8)
    }

    @Test func `every scalar of Unicode is accepted and comes back`() throws {
        for plane in UInt32(0)..<17 {
            let scalars = (plane << 16..<(plane + 1) << 16).compactMap(Unicode.Scalar.init).filter {
                $0.value >= 0x20 && $0 != "\"" && $0 != "\\"
            }
            // One in 37: all of them take seconds without optimisation.
            let sample = String(
                String.UnicodeScalarView(scalars.enumerated().filter { $0.offset % 37 == 0 }.map(\.element)))
            #expect(try JSONDocument(text: "\"\(sample)\"").root.string == sample)
        }
    }
}
