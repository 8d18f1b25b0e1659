internal import CCurl
internal import Glibc

/// What must be done once in a process before libcurl is used.
enum CurlLibrary {
    private static let started: Bool = {
        // OpenSSL writes with write(2): a server that has left must be an error there, not a signal.
        _ = signal(SIGPIPE, SIG_IGN)
        return curl_global_init(CLong(CURL_GLOBAL_SSL)) == CURLE_OK
    }()

    static func start() {
        precondition(started, "curl_global_init")
    }
}
