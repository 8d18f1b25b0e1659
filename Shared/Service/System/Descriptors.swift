internal import CSystem
internal import Glibc

/// Waits until one of the descriptors is readable or the time is over; negative ones are skipped.
///
/// - Parameters:
///   - descriptors: what to wait for.
///   - milliseconds: how long at the most; nil waits for ever.
func waitReadable(_ descriptors: [CInt], milliseconds: Int64?) {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let timeout = milliseconds.map { CInt(clamping: max(0, $0)) } ?? -1
    let result = unsafe poll(&entries, nfds_t(entries.count), timeout)
    precondition(result >= 0 || errno == EINTR, "poll")
}

/// Whether a descriptor has something to read, or is at its end.
func isReadable(_ descriptor: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
}

/// Raises how many descriptors the process may open, as far as its hard limit lets it, up to a number.
///
/// - Returns: how many it may open now.
public func raiseDescriptorLimit(to wanted: Int) -> Int {
    Int(clamping: liveline_raise_descriptors(UInt(clamping: wanted)))
}
