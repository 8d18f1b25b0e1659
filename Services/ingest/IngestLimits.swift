/// Every limit of ingest.
struct IngestLimits: Equatable, Sendable {
    /// How many commands may wait until they are taken; 200,000.
    var commandsMax = 200_000
    /// How much they may hold together, in bytes; 512 MiB.
    var commandBytesMax = 512 << 20
    /// How many registrations may wait until they are taken; 1,000,000.
    var registrationsMax = 1_000_000
    /// Which part of each limit one application may use; a quarter.
    var applicationShare = 4
    /// The disk space that is kept for registrations, in bytes; 16 MiB, or an eighth of the disk if that is less.
    var diskReserveBytes: Int64 = 16 << 20
    /// How long a settled message can be asked about, in milliseconds; 7 days.
    var retentionMilliseconds: Int64 = 7 * 86_400_000
    /// How long what is known of a run or token is remembered, in milliseconds; 12 h, as long as iOS shows an activity.
    var memoryMilliseconds: Int64 = 12 * 3_600_000
    /// How long an empty token is ignored after a first token, in milliseconds; 10 s.
    ///
    /// The SDK ends an older activity of the same id when a new one appears, and says so after the new one's token.
    var emptyTokenMilliseconds: Int64 = 10_000
    /// How long a start at the Firebase door is known by its bytes, in milliseconds; 60 s.
    var sameStartMilliseconds: Int64 = 60_000

    /// How long an `Idempotency-Key` is known, in milliseconds; 24 h.
    var idempotencyMilliseconds: Int64 = 24 * 3_600_000

    /// The part of a limit that one application may use.
    func share(_ limit: Int) -> Int { max(1, limit / applicationShare) }
}
