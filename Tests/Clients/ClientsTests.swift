import Foundation
import Testing

/// Client libraries that nobody here wrote, each in its own process against programs of this build.
///
/// `compose/test` makes the environment they need; without it these tests are skipped and say so.
@Suite(
    .serialized, .enabled(if: Environment.isThere, "no .build/clients-venv: compose/test makes it"))
struct `Client libraries` {
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "firebase_admin_client", "async_firebase_client", "pyfcm_client", "pypushwoosh_client",
            "aioapns_client",
        ])
    func `do their work unchanged`(_ script: String) async throws {
        let run = try await Environment.run(script)
        #expect(run.status == 0, "\(run.output)")
    }
}

/// The virtual environment of Python with the libraries.
enum Environment {
    private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let python = scripts.appendingPathComponent("../../.build/clients-venv/bin/python")
        .standardized

    /// Whether it has been made.
    static var isThere: Bool { FileManager.default.isExecutableFile(atPath: python.path) }

    /// Runs a script to its end; both of its outputs.
    static func run(_ script: String) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = python
        process.arguments = ["-B", scripts.appendingPathComponent("\(script).py").path, programs.path]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        // A thread waits, so that the time limit can end the test, and with it the script.
        return try await withTaskCancellationHandler {
            try process.run()
            return await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let bytes = output.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    let text = String(decoding: bytes, as: UTF8.self)
                    continuation.resume(returning: (process.terminationStatus, text))
                }
            }
        } onCancel: {
            if process.isRunning { process.terminate() }
        }
    }

    /// Where the programs are: beside the one that runs the tests.
    private static var programs: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
