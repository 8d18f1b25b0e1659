import Foundation
import Testing

@testable import Telemetry

@Suite struct LogSinkTests {
    @Test func `a line goes to the descriptor whole`() throws {
        let pipe = Pipe()
        let line = Array("service info event\n".utf8)
        writeLine(line, to: pipe.fileHandleForWriting.fileDescriptor)
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data(line))
    }

    @Test func `a descriptor that is closed loses the line and nothing else`() {
        writeLine(Array("lost\n".utf8), to: -1)
        writeLine([], to: -1)
    }
}
