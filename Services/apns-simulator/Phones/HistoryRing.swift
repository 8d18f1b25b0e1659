/// What phones made of their last pushes, all in one ring of bounded size.
///
/// The entries of a phone form a chain from the newest back; old ones fall out when the ring comes round, so that a
/// long run with many phones costs no more than a short one.
struct HistoryRing: Sendable {
    /// One push as the phone saw it.
    struct Entry: Equatable, Sendable {
        var atMilliseconds: Int64
        var event: PushEvent
        var verdict: DeliveryVerdict
        var activityID: String
        var contentState: [UInt8]
    }

    private struct Record {
        var previous: Int64
        var atMilliseconds: Int64
        var start: Int64
        var stateLength: Int32
        var idLength: Int16
        var event: PushEvent
        var verdict: DeliveryVerdict
    }

    /// Entries shown of one phone.
    let perPhone: Int
    private let recordsMax: Int
    private let bytesMax: Int
    private var records: [Record] = []
    private var bytes: [UInt8] = []
    private var nextRecord: Int64 = 0
    private var nextByte: Int64 = 0

    /// - Parameters:
    ///   - perPhone: entries shown of one phone.
    ///   - bytesMax: room for the content states and ids of all phones.
    init(perPhone: Int, bytesMax: Int) {
        self.perPhone = perPhone
        self.bytesMax = max(bytesMax, 65_536)
        recordsMax = self.bytesMax / 128
    }

    /// Adds an entry after `previous`.
    ///
    /// - Returns: its number, to be given as `previous` the next time.
    mutating func append(
        after previous: Int64, atMilliseconds: Int64, event: PushEvent, verdict: DeliveryVerdict,
        activityID: String, contentState: ArraySlice<UInt8>
    ) -> Int64 {
        guard perPhone > 0 else { return -1 }
        let id = activityID.utf8.prefix(1024)
        let state = contentState.prefix(8192)
        let start = reserve(id.count + state.count)
        write(id, at: start)
        write(state, at: start + Int64(id.count))
        let record = Record(
            previous: previous, atMilliseconds: atMilliseconds, start: start,
            stateLength: Int32(state.count), idLength: Int16(id.count), event: event, verdict: verdict)
        let place = Int(nextRecord % Int64(recordsMax))
        if place < records.count { records[place] = record } else { records.append(record) }
        nextRecord += 1
        return nextRecord - 1
    }

    /// The entries from `newest` back, oldest first.
    func entries(from newest: Int64) -> [Entry] {
        var found: [Entry] = []
        var number = newest
        while found.count < perPhone, let record = record(number) {
            let middle = Int(record.start % Int64(bytesMax)) + Int(record.idLength)
            let id = bytes[middle - Int(record.idLength)..<middle]
            found.append(
                Entry(
                    atMilliseconds: record.atMilliseconds, event: record.event, verdict: record.verdict,
                    activityID: String(decoding: id, as: UTF8.self),
                    contentState: Array(bytes[middle..<middle + Int(record.stateLength)])))
            number = record.previous
        }
        return found.reversed()
    }

    private func record(_ number: Int64) -> Record? {
        guard number >= 0, number < nextRecord, number >= nextRecord - Int64(recordsMax) else { return nil }
        let record = records[Int(number % Int64(recordsMax))]
        return record.start >= nextByte - Int64(bytesMax) ? record : nil
    }

    /// Makes room for `count` bytes in one piece and returns their place.
    private mutating func reserve(_ count: Int) -> Int64 {
        let left = bytesMax - Int(nextByte % Int64(bytesMax))
        if left < count { nextByte += Int64(left) }
        defer { nextByte += Int64(count) }
        return nextByte
    }

    private mutating func write(_ piece: some Collection<UInt8>, at start: Int64) {
        let place = Int(start % Int64(bytesMax))
        if bytes.count < place { bytes.append(contentsOf: repeatElement(0, count: place - bytes.count)) }
        let overlap = min(piece.count, bytes.count - place)
        bytes.replaceSubrange(place..<place + overlap, with: piece)
    }
}
