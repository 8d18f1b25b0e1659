/// A number that tells one run of the kernel from the others, as long as the monotonic clock goes on; nil where the kernel
/// does not say (random(4), `boot_id`).
public func bootNumber() -> Int64? {
    guard let text = try? readFile("/proc/sys/kernel/random/boot_id", bytesMax: 64) else { return nil }
    let digits = String(decoding: text, as: UTF8.self).filter(\.isHexDigit).prefix(16)
    return UInt64(digits, radix: 16).map { Int64(bitPattern: $0) }
}
