import Contracts
import Store

/// The tags of devices.
extension Profiles {
    /// Sets, raises and removes tags; a change that is not newer than the tag is ignored, as done.
    func change(
        _ changes: [String: TagChange], device: Int64, application: Int64, sequence: Int64
    ) throws(StoreError) {
        for name in changes.keys.sorted() {
            guard let change = changes[name] else { continue }
            let tag = try tag(name, application: application)
            let last = try lastSequence(tag, device: device)
            guard sequence > last ?? 0 else { continue }
            let values = try values(after: change, on: (tag, device))
            if last != nil {
                try database.run("DELETE FROM tags WHERE tag = ? AND device = ?", .int(tag), .int(device))
            }
            try insert(values, tag, device: device, sequence: sequence)
        }
    }

    /// Writes the rows of a tag that a device does not have.
    func insert(
        _ values: [(TagKind, Value)], _ tag: Int64, device: Int64, sequence: Int64
    ) throws(StoreError) {
        for (position, (kind, value)) in values.enumerated() {
            try database.run(
                "INSERT INTO tags (tag, device, position, kind, value, sequence) VALUES (?, ?, ?, ?, ?, ?)",
                .int(tag), .int(device), .int(Int64(position)), .int(kind.rawValue), value,
                .int(sequence))
        }
    }

    private func lastSequence(_ tag: Int64, device: Int64) throws(StoreError) -> Int64? {
        try database.first(
            "SELECT sequence FROM tags WHERE tag = ? AND device = ? LIMIT 1", .int(tag), .int(device)
        ) { $0.int(0) }
    }

    /// The values that a change leaves of a tag; a new device has none yet.
    func values(
        after change: TagChange, on place: (tag: Int64, device: Int64)?
    ) throws(StoreError) -> [(TagKind, Value)] {
        switch change {
        case .remove: return [(.removed, .null)]
        case .set(let value): return value.rows
        case .increment(let step):
            guard let place else { return TagValue.sum(nil, step).rows }
            var former: TagValue?
            try database.query(
                """
                SELECT kind, value, typeof(value) FROM tags
                WHERE tag = ? AND device = ? AND kind > 0 ORDER BY position
                """, .int(place.tag), .int(place.device)
            ) { row throws(StoreError) in former = try TagValue(former, with: row) }
            return TagValue.sum(former, step).rows
        }
    }

    /// About how many bytes of tags are shown of a device; 1 MiB.
    ///
    /// A phone may set as many as it likes. What is beyond is there for filters, and left out here.
    static let shownBytesMax = 1 << 20
    /// How many values of tags are looked at for it; 20,000.
    static let shownValuesMax = 20_000

    /// The tags that a device has, those that the application met first if they are too many to be shown.
    ///
    /// Each tag that the application knows is looked up: a column of tags is kept by tag, not by device.
    func tags(of device: Int64) throws(StoreError) -> [String: TagValue] {
        var tags: [String: TagValue] = [:]
        var left = Profiles.shownBytesMax
        try database.query(
            """
            SELECT kind, value, typeof(value), name, length(CAST(value AS BLOB)) FROM tag_names
            CROSS JOIN tags ON tag = tag_names.id AND device = ?1
            WHERE application = ?2 AND kind > 0 ORDER BY tag, position LIMIT ?3
            """, .int(device), .int(DeviceNumber.application(ofDevice: device)),
            .int(Int64(Profiles.shownValuesMax))
        ) { row throws(StoreError) in
            guard left > 0 else { return }
            let name = row.text(3)
            left -= name.utf8.count + Int(row.int(4))
            // A list of which not all is shown would be another one.
            tags[name] = try left > 0 ? TagValue(tags[name], with: row) : nil
        }
        return tags
    }
}

extension TagValue {
    /// Reads `kind, value, typeof(value)` from a row; each further row of a list adds a member to the former value.
    fileprivate init(_ former: TagValue?, with row: borrowing Row) throws(StoreError) {
        switch TagKind(rawValue: row.int(0)) {
        case .string: self = .string(row.text(1))
        case .number:
            self =
                row.text(2) == "integer"
                ? .integer(row.int(1)) : .number(row.double(1))
        case .boolean: self = .boolean(row.int(1) != 0)
        case .list:
            var members: [String] = []
            if case .list(let known)? = former { members = known }
            self = .list(members + [row.text(1)])
        case .emptyList: self = .list([])
        case .removed, nil:
            throw StoreError(call: "tags", message: "a tag has the unknown kind \(row.int(0))")
        }
    }

    /// The rows that stand for a value.
    var rows: [(TagKind, Value)] {
        switch self {
        case .string(let text): [(.string, .text(text))]
        case .integer(let number): [(.number, .int(number))]
        case .number(let number): [(.number, .double(number))]
        case .boolean(let truth): [(.boolean, .int(truth ? 1 : 0))]
        case .list(let members):
            members.isEmpty ? [(.emptyList, .null)] : members.map { (.list, .text($0)) }
        }
    }

    /// A number raised by a step; what is no number counts as 0.
    static func sum(_ value: TagValue?, _ step: TagValue) -> TagValue {
        switch (value, step) {
        case (.integer(let a)?, .integer(let b)):
            let (sum, overflow) = a.addingReportingOverflow(b)
            return overflow ? .number(Double(a) + Double(b)) : .integer(sum)
        case (_, .integer(let b)) where value?.asDouble == nil: return .integer(b)
        default: return .number((value?.asDouble ?? 0) + (step.asDouble ?? 0))
        }
    }

    private var asDouble: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }
}
