import Store

/// The devices that one condition holds for, read from the store in one of two ways.
///
/// A stretch of values that few devices have is read at once, from the index on values. What many have is read
/// stretch by stretch of device numbers: one value from the index, where its devices stand in order, and other
/// comparisons along the tag's column.
struct ConditionReader {
    /// How many devices count as few.
    static let fewMax = 2_048
    /// How many devices are held at once for all conditions of an audience before all else counts as many.
    static let heldMax = 65_536
    /// How many values are asked for the next device that has one of them.
    private static let pointsAskedMax = 16

    private let tag: Int64
    private var uncounted: ArraySlice<ValueSpan>
    /// Devices of the stretches of values that few have; sorted once all are counted.
    private var few: [Int64] = []
    /// The stretches of values that many have.
    private(set) var many: [ValueSpan] = []

    init(_ condition: FilterPlan.Condition) {
        tag = condition.tag
        uncounted = condition.spans[...]
    }

    /// Whether every stretch of values has been found to be one of few or of many.
    var isCounted: Bool { uncounted.isEmpty }

    /// How many devices it holds.
    var heldCount: Int { few.count }

    /// Finds whether few or many devices have the next stretch of values.
    ///
    /// - Parameters:
    ///   - database: where they are.
    ///   - room: how many devices it may hold.
    /// - Returns: what it has cost, in rows.
    /// - Throws: `StoreError` if the store fails.
    mutating func count(in database: Database, room: Int) throws(StoreError) -> Int {
        guard let span = uncounted.popFirst() else { return 0 }
        var found: [Int64] = []
        if few.count < room {
            try database.query(SQL(ConditionReader.first(span)), values: [.int(tag)] + span.operands) {
                found.append($0.int(0))
            }
        }
        if found.count > ConditionReader.fewMax || few.count >= room {
            many.append(span)
        } else {
            few += found
        }
        if uncounted.isEmpty { few.sort() }
        return Cost.seek + found.count
    }

    /// Those of the few within a stretch of numbers.
    func few(in stretch: DeviceStretch) -> DeviceStretch {
        var result = DeviceStretch(start: stretch.start)
        for device in few[firstIndex(from: stretch.start)...] {
            guard device < stretch.end else { break }
            result.insert(device)
        }
        return result
    }

    /// Adds the devices within a stretch that have one of the values of many.
    ///
    /// - Returns: what it has cost, in rows.
    func read(_ index: Int, into stretch: inout DeviceStretch, in database: Database) throws(StoreError)
        -> Int
    {
        let span = many[index]
        var rows = 0
        try database.query(
            SQL(ConditionReader.within(span)),
            values: [.int(tag), .int(stretch.start), .int(stretch.end)] + span.operands
        ) { row in
            stretch.insert(row.int(0))
            rows += 1
        }
        return Cost.seek + (span.isPoint ? rows : Int(DeviceStretch.width))
    }

    /// A number that no device before it, from the given one on, fulfils the condition; nil where none is left.
    func next(from device: Int64, in database: Database) throws(StoreError) -> Int64? {
        let index = firstIndex(from: device)
        var next = index < few.count ? few[index] : nil
        guard !many.isEmpty else { return next }
        if many.count > ConditionReader.pointsAskedMax || !many.allSatisfy(\.isPoint) {
            let inColumn = try database.first(
                "SELECT device FROM tags WHERE tag = ? AND device >= ? ORDER BY device LIMIT 1", .int(tag),
                .int(device), row: { $0.int(0) })
            return [next, inColumn].compactMap { $0 }.min()
        }
        for span in many {
            try database.query(
                SQL(ConditionReader.following(span)), values: [.int(tag), .int(device)] + span.operands
            ) { next = min(next ?? .max, $0.int(0)) }
        }
        return next
    }

    private func firstIndex(from device: Int64) -> Int {
        var (low, high) = (0, few.count)
        while low < high {
            let middle = (low + high) / 2
            if few[middle] < device { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: SQL

    /// The first devices with a value in a stretch, in the order of values.
    static func first(_ span: ValueSpan) -> String {
        """
        SELECT device FROM tags INDEXED BY tags_value WHERE tag = ? AND kind > 0\(span.and("value")) \
        LIMIT \(fewMax + 1)
        """
    }

    /// The devices within a stretch of numbers with a value in a stretch of values.
    static func within(_ span: ValueSpan) -> String {
        let numbers = "tag = ? AND device >= ? AND device < ? AND kind > 0"
        return span.isPoint
            ? "SELECT device FROM tags INDEXED BY tags_value WHERE \(numbers)\(span.and("value"))"
            // The plus keeps SQLite from looking for the value in the index.
            : "SELECT device FROM tags WHERE \(numbers)\(span.and("+value"))"
    }

    /// The next device with one value.
    static func following(_ span: ValueSpan) -> String {
        """
        SELECT device FROM tags INDEXED BY tags_value WHERE tag = ? AND device >= ? AND kind > 0\
        \(span.and("value")) ORDER BY device LIMIT 1
        """
    }
}

/// What reading costs, in rows: about a sixth of a microsecond each.
enum Cost {
    /// Finding a place in an index.
    static let seek = 4
}

extension ValueSpan {
    /// The condition behind others.
    fileprivate func and(_ column: String) -> String {
        condition.map { " AND \($0.replacing("value", with: column))" } ?? ""
    }
}
