import Foundation
import Testing
import Web

@Suite struct FileReaderTests {
    @Test func `a file is read piece by piece to its end`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        try Data("abcdefg".utf8).write(to: URL(fileURLWithPath: path))
        let reader = try #require(FileReader(path))
        let pieces = (0..<4).map { _ in reader.read(3).map { String(decoding: $0, as: UTF8.self) } }
        #expect(pieces == ["abc", "def", "g", ""])
    }

    @Test func `what is not there is not opened, and a directory is not read`() throws {
        #expect(FileReader("/tmp/there/is/none") == nil)
        #expect(FileReader("/tmp")?.read(3) == nil)
    }
}
