internal import CSystem
internal import Glibc

/// A program that was started, what it prints, and how it ends.
///
/// Its standard output and error come through one pipe; its input is empty. It is in a process group of its own, so
/// that a terminal's ^C reaches only who started it. The kernel kills it when the thread that started it ends. It
/// belongs to one thread and never blocks.
public final class ChildProcess {
    /// How much is read at a time, bytes.
    public static let readBytesMax = 64 << 10

    /// Its process id.
    public let processID: Int32
    /// Becomes readable when it has printed something; -1 once it has closed its output.
    public private(set) var outputDescriptor: CInt
    /// Becomes readable when it ends; -1 after `takeExit` has told how.
    public private(set) var exitDescriptor: CInt
    private var hasEnded = false

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The executable.
    ///   - arguments: The words behind its name.
    ///   - environment: All variables that it gets.
    /// - Throws: `ProcessError` if it cannot be started.
    public init(path: String, arguments: [String], environment: [String: String]) throws(ProcessError) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw ProcessError("pipe", path) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        defer { close(ends[1]) }
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let process = unsafe CStrings.with([path] + arguments) { words in
            unsafe CStrings.with(variables) { unsafe liveline_spawn(path, words, $0, ends[1]) }
        }
        guard process > 0 else {
            let error = ProcessError("start", path)
            close(ends[0])
            throw error
        }
        processID = process
        outputDescriptor = ends[0]
        exitDescriptor = liveline_pidfd_open(process)
        guard exitDescriptor < 0 else { return }
        let error = ProcessError("pidfd_open", path)
        kill(process, SIGKILL)
        throw error
    }

    deinit {
        if outputDescriptor >= 0 { close(outputDescriptor) }
        if exitDescriptor >= 0 { close(exitDescriptor) }
    }

    /// What came of a read.
    public enum Output: Equatable, Sendable {
        /// It has printed this.
        case bytes([UInt8])
        /// It has printed nothing more yet.
        case nothing
        /// It will print nothing more.
        case end
    }

    /// Reads what it has printed, at most `readBytesMax` at a time.
    public func readOutput() -> Output {
        guard outputDescriptor >= 0 else { return .end }
        var length = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.readBytesMax) { buffer, count in
            repeat {
                length = unsafe read(outputDescriptor, buffer.baseAddress, buffer.count)
            } while length < 0 && errno == EINTR
            count = max(0, length)
        }
        if length > 0 { return .bytes(bytes) }
        if length < 0, errno == EAGAIN { return .nothing }
        close(outputDescriptor)
        outputDescriptor = -1
        return .end
    }

    /// Sends it a signal; nothing happens once `takeExit` has told how it ended.
    public func send(_ signal: ProcessSignal) {
        guard !hasEnded else { return }
        kill(processID, signal.number)
    }

    /// How it ended, told once; nil while it runs and ever after.
    public func takeExit() -> ProcessExit? {
        guard !hasEnded else { return nil }
        var isKilled: CInt = 0
        var code: CInt = 0
        guard unsafe liveline_take_exit(processID, &isKilled, &code) == 1 else { return nil }
        hasEnded = true
        close(exitDescriptor)
        exitDescriptor = -1
        return isKilled == 0 ? .code(code) : .signal(code)
    }
}

/// How a program ended.
public enum ProcessExit: Equatable, Sendable {
    /// It returned a code.
    case code(Int32)
    /// A signal of this number killed it.
    case signal(Int32)
}
