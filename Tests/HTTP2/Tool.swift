import Glibc

/// A program of somebody else's whose output the loop collects.
///
/// Started with `posix_spawn`, because waiting for a `Foundation.Process` needs a run loop.
final class Tool: Pollable {
    struct CannotStart: Error { var code: CInt }

    private let reader: CInt
    private let child: pid_t
    private(set) var output = ""
    private(set) var hasEnded = false

    /// Starts a program by its path; its two outputs are read as one, its input is empty.
    init(_ path: String, _ arguments: [String]) throws {
        var ends: [CInt] = [0, 0]
        pipe(&ends)
        reader = ends[0]
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
        _ = fcntl(reader, F_SETFD, FD_CLOEXEC)
        defer { Glibc.close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        posix_spawn_file_actions_addclose(&actions, ends[1])
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, path, &actions, nil, &words, environ)
        guard code == 0 else { throw CannotStart(code: code) }
        child = process
    }

    deinit {
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
        Glibc.close(reader)
    }

    static func path(_ name: String) -> String? {
        ["/usr/bin/", "/usr/sbin/", "/usr/local/bin/"].map { $0 + name }.first { access($0, X_OK) == 0 }
    }

    var descriptors: [CInt] { hasEnded ? [] : [reader] }
    var nextDeadlineMilliseconds: Int64? { nil }

    func process(nowMilliseconds: Int64) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !hasEnded {
            let count = read(reader, &buffer, buffer.count)
            guard count > 0 else {
                hasEnded = count == 0
                return
            }
            output += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }
}
