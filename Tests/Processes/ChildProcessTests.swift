import Glibc
import Processes
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ChildProcessTests {
    private func shell(_ script: String, _ environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(path: "/bin/sh", arguments: ["-c", script], environment: environment)
    }

    /// Waits until the descriptor is readable.
    private func wait(_ descriptor: CInt) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, -1)
    }

    private func outputOf(_ process: ChildProcess) -> String {
        var bytes: [UInt8] = []
        while true {
            switch process.readOutput() {
            case .bytes(let part): bytes += part
            case .nothing: wait(process.outputDescriptor)
            case .end: return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    private func exit(of process: ChildProcess) -> ProcessExit? {
        wait(process.exitDescriptor)
        return process.takeExit()
    }

    @Test func `both outputs come through one pipe`() throws {
        let process = try shell("echo one; echo two >&2")
        #expect(outputOf(process) == "one\ntwo\n")
        #expect(exit(of: process) == .code(0))
    }

    @Test func `the input is empty`() throws {
        let process = try shell("cat; echo end")
        #expect(outputOf(process) == "end\n")
        #expect(exit(of: process) == .code(0))
    }

    @Test func `it gets the variables that it is given and no others`() throws {
        let process = try shell("echo $A-$HOME", ["A": "x y"])
        #expect(outputOf(process) == "x y-\n")
        #expect(exit(of: process) == .code(0))
    }

    @Test(arguments: [0, 1, 78, 255]) func `its code is told once`(code: Int32) throws {
        let process = try shell("exit \(code)")
        #expect(exit(of: process) == .code(code))
        #expect(process.takeExit() == nil)
        #expect(process.exitDescriptor == -1)
    }

    @Test func `a signal that kills it is told`() throws {
        let process = try shell("sleep 100")
        #expect(process.takeExit() == nil)
        process.send(.kill)
        #expect(exit(of: process) == .signal(9))
    }

    @Test func `it can be held, let go on, and asked to stop`() throws {
        let process = try shell("echo up; exec sleep 60")
        wait(process.outputDescriptor)
        process.send(.hold)
        process.send(.terminate)
        #expect(process.takeExit() == nil)
        process.send(.goOn)
        #expect(exit(of: process) == .signal(15))
    }

    @Test func `no signal is blocked in it, whatever its parent does`() throws {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGHUP)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        defer { pthread_sigmask(SIG_UNBLOCK, &set, nil) }
        let process = try shell("kill -HUP $$; sleep 100")
        #expect(exit(of: process) == .signal(1))
    }

    @Test func `it has a process group of its own`() throws {
        let process = try shell("sleep 100")
        #expect(getpgid(process.processID) == process.processID)
        process.send(.kill)
        #expect(exit(of: process) == .signal(9))
    }

    @Test func `a program that is not there is an error with its path`() {
        #expect {
            _ = try ChildProcess(path: "/nowhere/x", arguments: [], environment: [:])
        } throws: {
            "\($0)" == "start /nowhere/x: No such file or directory"
        }
    }

    @Test func `it dies with the thread that started it`() throws {
        // A shell cannot ask for this: the thread is one of this process, which starts a child and ends.
        let process = try Self.startOnThread()
        #expect(exit(of: process) == .signal(9))
    }

    private final class Box: @unchecked Sendable { var process: ChildProcess? }

    private static func startOnThread() throws -> ChildProcess {
        let box = Box()
        var thread = pthread_t()
        let context = Unmanaged.passRetained(box)
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
                box.process = try? ChildProcess(
                    path: "/bin/sh", arguments: ["-c", "sleep 100"], environment: [:])
                return nil
            }, context.toOpaque())
        pthread_join(thread, nil)
        return try #require(box.process)
    }
}
