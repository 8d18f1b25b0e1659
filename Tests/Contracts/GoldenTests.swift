import Contracts
import Foundation
import Testing

/// The bytes that instances of different versions exchange: a change to a golden file is a change that running
/// neighbours do not know of, so that an old one is never edited; a new version adds files.
@Suite struct GoldenTests {
    /// A golden file holds a frame a line.
    private func golden(_ name: String) throws -> [[UInt8]] {
        let directory = try #require(Bundle.module.url(forResource: "Golden", withExtension: nil))
        let bytes = [UInt8](try Data(contentsOf: directory.appendingPathComponent("\(name).v1")))
        #expect(bytes.last == UInt8(ascii: "\n"))
        return bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Array($0) }
    }

    private func text(_ frames: [[UInt8]]) -> String {
        frames.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
    }

    @Test(arguments: samples.map(\.name))
    func `each message is written as its golden file has it`(name: String) throws {
        let sample = try #require(samples.first { $0.name == name })
        let frames = try ParcelCoder().frames(parcel(sample.messages))
        #expect(text(frames) == text(try golden(name)))
    }

    @Test(arguments: samples.map(\.name))
    func `each golden file is read as its message`(name: String) throws {
        let sample = try #require(samples.first { $0.name == name })
        #expect(try ParcelCoder().parcel(golden(name)) == parcel(sample.messages))
    }

    @Test func `an activity's newest state travels to the byte, and an older instance tells none`() throws {
        let newest = NewestState(
            message: 7, event: .update, orderSeconds: 5,
            contentState: "{\"a\": 1.0,\"e\":\"\\ud83d\\udc68\u{200D}é\"}")
        let answer = Answer(id: 3, content: .participants(lines: [], newest: newest))
        let frames = try ParcelCoder().frames(parcel([.answer(answer)]))
        #expect(try ParcelCoder().parcel(frames) == parcel([.answer(answer)]))
        #expect(!text(try golden("answer")).contains("newest"))
    }

    @Test func `every type of message has a golden file, and every golden file a message`() throws {
        #expect(Set(samples.map { $0.messages[0].type }) == Set(MessageType.allCases))
        let directory = try #require(Bundle.module.url(forResource: "Golden", withExtension: nil))
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(Set(files) == Set(samples.map { "\($0.name).v1" }))
    }
}
