internal import Glibc

/// The system's own words for an `errno`.
enum SystemCall {
    static func message(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
