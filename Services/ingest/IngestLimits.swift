/// Every limit of ingest.
struct IngestLimits: Equatable, Sendable {
    /// How many registrations, how many ends and controls, and how many starts and updates stand in memory; 16,384 each.
    ///
    /// What does not fit stays in the journal until there is room. An application has at most as much as is still free.
    var atHandMax = 16_384
    /// How many pieces are read from the journal in one turn; 256.
    var pageMax = 256
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
    /// How long what is known of a run or token is remembered, in milliseconds; 12 h, as long as iOS shows an activity.
    var memoryMilliseconds: Int64 = 12 * 3_600_000
    /// How long a start at the Firebase door is known by its bytes, in milliseconds; 60 s.
    var sameStartMilliseconds: Int64 = 60_000
    /// How long after a message is settled the registry's facts about its tokens may still come, in milliseconds; 60 s.
    ///
    /// One that is lost on its way comes again within that.
    var factsMilliseconds: Int64 = 60_000

    /// How long an `Idempotency-Key` is known, in milliseconds; 24 h.
    var idempotencyMilliseconds: Int64 = 24 * 3_600_000

    /// How many filters an application may have; 10,000.
    var filtersMax = 10_000
    /// How much the filters of an application may hold together, as they are kept, in bytes; 8 MiB.
    ///
    /// `listFilters` shows all of them at once.
    var filterBytesMax = 8 << 20

    /// How many registrations of an application may wait while a bulk import of it goes on; 2,000.
    ///
    /// Beyond it no more of the import is read: singles stand behind it. Much less than may stand in memory, so that
    /// updates need not wait until it is read from the journal.
    var importWaitingMax = 2_000
    /// How long an import may find no room before it is stopped, in milliseconds; 10 s.
    var importWaitMilliseconds: Int64 = 10_000
    /// The longest line of an import, in bytes; 64 KiB.
    var importLineBytesMax = 64 << 10
    /// How many tokens a line of an import may have; 64.
    var importTokensPerLineMax = 64
    /// How many faults the answer to an import names; 100.
    var importFaultsMax = 100
    /// How many lines of an import are taken in at a time; 200.
    var importLinesMax = 200
    /// How many registrations travel in one group; 200, unless one device has more.
    var groupRegistrationsMax = 200
    /// How many imports may go on at once; 8.
    var importsMax = 8

    /// The part of a limit that one application may use.
    func share(_ limit: Int) -> Int { max(1, limit / applicationShare) }
}
