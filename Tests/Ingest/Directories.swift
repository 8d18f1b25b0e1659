import Foundation

/// Runs a body with a fresh directory that is gone afterwards.
func withDirectory(_ body: (String) throws -> Void) throws {
    let path = "/tmp/ing-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}
