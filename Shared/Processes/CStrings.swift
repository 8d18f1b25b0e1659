internal import Glibc

/// Lists of strings as C wants them.
enum CStrings {
    /// Calls the body with the strings as a list that ends with a null pointer; it is valid during the call.
    static func with<Result>(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("a list has its end") }
            return unsafe body(start)
        }
    }
}
