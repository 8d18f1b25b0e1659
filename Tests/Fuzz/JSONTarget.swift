import Foundation
import JSON
import Store

/// The JSON cutter against SQLite's validator and Foundation's parser, which know nothing of it, and against itself.
///
/// SQLite goes by the grammar alone: it takes what is no UTF-8, half of a surrogate pair, repeated members and more levels.
/// Foundation takes commas before closing brackets too, so that only its refusals say something; it refuses numbers that it
/// cannot hold.
struct JSONTarget: FuzzTarget {
    /// What is refused although it follows the grammar.
    private static let beyondGrammar: [JSONError.Kind] = [
        .invalidUTF8, .loneSurrogate, .repeatedMember, .tooDeep, .byteOrderMark,
    ]
    private let database: Database

    init() throws { database = try Database(.memory) }

    func feed(_ input: [UInt8]) throws {
        do {
            let document = try JSONDocument(input)
            hold(document.bytes == input, "the document has other bytes")
            let values = JSONTarget.check(document)
            JSONTarget.checkCuts(values)
            hold(try followsGrammar(input), "SQLite refuses what was taken")
            let reference = try? JSONSerialization.jsonObject(
                with: Data(input), options: .fragmentsAllowed)
            hold(
                reference != nil || values.contains(where: JSONTarget.isBeyondDouble),
                "Foundation refuses what was taken")
        } catch let error as JSONError {
            hold((0...input.count).contains(error.byteOffset), "\(error) is beyond \(input.count) bytes")
            hold(!error.description.isEmpty, "no description")
            JSONTarget.checkPrefix(input, error)
            // SQLite reads up to the first zero byte.
            guard !JSONTarget.beyondGrammar.contains(error.kind), !input.contains(0) else { return }
            // SQLite 3.40 takes an array or object for a name where a string stands last in it.
            if error.kind == .expectedName, input[error.byteOffset] | 0x20 == UInt8(ascii: "{") { return }
            hold(try !followsGrammar(input), "SQLite takes what was refused: \(error)")
        }
    }

    private func followsGrammar(_ input: [UInt8]) throws -> Bool {
        try database.first("SELECT json_valid(?)", .text(String(decoding: input, as: UTF8.self))) {
            $0.int(0) == 1
        } ?? false
    }

    private static func isBeyondDouble(_ value: JSONValue) -> Bool {
        value.kind == .number && value.double == nil
    }

    /// Walks over all values; each has to stand where its container says.
    private static func check(_ document: JSONDocument) -> [JSONValue] {
        var values = [document.root]
        var next = 0
        while next < values.count {
            let value = values[next]
            next += 1
            let children = value.elements.map { Array($0) } ?? value.members?.map(\.value) ?? []
            var place = value.byteRange.lowerBound
            for child in children {
                hold(
                    child.byteRange.lowerBound > place
                        && child.byteRange.upperBound < value.byteRange.upperBound,
                    "a value leaves its container")
                place = child.byteRange.upperBound - 1
            }
            hold(value.bytes == Array(document.bytes[value.byteRange]), "the bytes are no slice")
            values += children
            guard let members = value.members else { continue }
            for member in members {
                hold(
                    value[member.name]?.byteRange == member.value.byteRange,
                    "a member is not found by its name")
            }
        }
        return values
    }

    /// What is cut out has to be a text of its own, and the same value.
    private static func checkCuts(_ values: [JSONValue]) {
        for value in values.prefix(16) {
            guard let alone = try? JSONDocument(value.bytes).root else {
                return hold(false, "what was cut out is no JSON")
            }
            hold(alone.kind == value.kind && alone.bytes == value.bytes, "what was cut out is another value")
            hold(alone.int64 == value.int64 && alone.double == value.double, "another number")
            guard let text = value.string else { continue }
            let quoted = try? JSONDocument(text: JSONText.quote(text)).root.string
            hold(quoted.map { Array($0.utf8) } == Array(text.utf8), "a string changes when it is quoted")
            hold(!value.path.contains("\n"), "a path has several lines")
        }
    }

    /// What stands before the fault must not be at fault by itself, but for ending too early.
    private static func checkPrefix(_ input: [UInt8], _ error: JSONError) {
        guard error.kind != .repeatedMember, error.kind != .byteOrderMark else { return }
        do {
            _ = try JSONDocument(Array(input.prefix(error.byteOffset)))
        } catch let earlier where earlier.kind != .repeatedMember {
            hold(earlier.byteOffset == error.byteOffset, "\(error), but the bytes before it: \(earlier)")
        } catch {}
    }
}
