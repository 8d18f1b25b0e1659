import Contracts
import Foundation
import JSON
import Testing

@testable import Web
@testable import liveline

@Suite(.timeLimit(.minutes(10))) struct ImportCommandTests {
    private static let path = "POST /v1/applications/AAAAA-00001/devices:import"
    private let screen = Screen()

    private func send(_ stub: HTTPStub, _ text: String = "{\"hwid\":\"a\"}\n") throws -> Int32 {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return Subcommands.run(["import", file.path, "--url", stub.url], on: screen.console)
    }

    @Test func `a file is sent as it is`() throws {
        let stub = HTTPStub([Self.path: [(200, #"{"accepted":1,"refused":0,"lines":1,"errors":[]}"#)]])
        #expect(try send(stub) == 0)
        #expect(screen.output == ["accepted 1, refused 0"])
        #expect(stub.requests == ["\(Self.path) {\"hwid\":\"a\"}\n"])
    }

    @Test func `refused lines are shown and end with 1`() throws {
        let answer = """
            {"accepted":1,"refused":3,"lines":4,"errors":[{"line":2,"member":"hwid","message":"missing"},\
            {"line":3,"member":"","message":"not JSON"}]}
            """
        #expect(try send(HTTPStub([Self.path: [(200, answer)]])) == 1)
        #expect(
            screen.output == [
                "accepted 1, refused 3\nline 2: hwid: missing\nline 3: not JSON\n1 more lines"
            ]
                || screen.output == [
                    "accepted 1, refused 3", "line 2: hwid: missing", "line 3: not JSON", "1 more lines",
                ])
    }

    @Test(arguments: [
        (
            503, #"{"error":"storage is nearly full","accepted":7,"refused":1,"lines":9,"errors":[]}"#, 75,
            "liveline import: storage is nearly full; go on behind line 9, or send all of it again"
        ),
        (
            401, #"{"error":"a valid bearer token is needed"}"#, 65,
            "liveline import: a valid bearer token is needed"
        ),
    ])
    func `what stopped it is told`(status: Int, body: String, code: Int32, remark: String) throws {
        #expect(try send(HTTPStub([Self.path: [(status, body)]])) == code)
        #expect(screen.remarks == [remark])
    }

    @Test func `a file that is not there is named`() {
        #expect(Subcommands.run(["import", "/none/here"], on: screen.console) == 65)
        #expect(screen.remarks == ["liveline import: /none/here: cannot be read"])
        #expect(Subcommands.run(["import"], on: screen.console) == 64)
    }
}

struct ImportedPhonesTests {
    @Test(arguments: [1, 100, 100_000]) func `lines are whole however they are read`(piece: Int) throws {
        var phones = ImportedPhones(name: "n", count: 5)
        var text: [UInt8] = []
        while true {
            let more = phones.read(piece)
            #expect(more.count <= piece)
            guard !more.isEmpty else { break }
            text += more
        }
        let lines = text.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        #expect(lines.count == 5 && phones.given == 5)
        let roots = try lines.map { try JSONDocument($0).root }
        #expect(Set(roots.compactMap { $0["hwid"]?.string }).count == 5)
        #expect(Set(roots.compactMap { $0["push_token"]?.string }).count == 5)
        #expect(roots[0]["push_to_start_tokens"]?.elements?.first?["token"]?.string?.count == 160)
    }
}

struct ImportReportTests {
    private func usage(_ cpu: Double, _ bytes: Double) -> ServiceUsage {
        ServiceUsage(
            lines: [.ingest, .segmenter, .tokenRegistry].map {
                .init(service: $0, cpuSeconds: cpu, residentBytes: bytes)
            })
    }

    @Test func `a report tells costs for each device, and whether all has arrived`() throws {
        let answer = try ImportAnswer(
            HTTPClientResponse(status: 200, headers: [:], body: Array(#"{"accepted":1000}"#.utf8)))
        var peaks = usage(0, 1_048_576)
        peaks.raise(to: usage(0, 3_145_728))
        peaks.raise(to: usage(0, 1_048_576))
        var report = ImportReport(
            devices: 1_000, answer: answer, answerSeconds: 1, takenSeconds: 2, counted: 1_000,
            diskBytes: 2_097_152, before: usage(0, 1_048_576), peaks: peaks, usage: usage(0.02, 1_048_576))
        #expect(report.isComplete)
        #expect(report.text.contains("counted by a filter: 1,000\non disk: 2.0 MB"))
        #expect(report.text.contains(/segmenter +0.02 +20.0 +1.0 +3.0/))
        #expect(report.text.contains(/all three +0.06 +60.0/))
        #expect(try JSONDocument(report.json).root["takenSeconds"]?.double == 2)
        report.counted = 999
        #expect(!report.isComplete)
    }
}
