import Contracts
import Store

/// The tags of devices.
extension Profiles {
    /// Sets, raises and removes tags; a change that is not newer than the tag is ignored, as done.
    func change(
        _ changes: [String: TagChange], device: Int64, application: Int64, sequence: Int64
    ) throws(StoreError) {
        for name in changes.keys.sorted() {
            guard let change = changes[name], try sequence > lastSequence(name, device: device) else {
                continue
            }
            let rows = try rows(after: change, on: (device, name))
            try database.run("DELETE FROM tags WHERE device = ? AND name = ?", .int(device), .text(name))
            try insert(rows, name, device: device, application: application, sequence: sequence)
        }
    }

    /// Writes the rows of a tag that has none.
    func insert(
        _ rows: [(TagKind, Value)], _ name: String, device: Int64, application: Int64, sequence: Int64
    ) throws(StoreError) {
        for (position, (kind, value)) in rows.enumerated() {
            try database.run(
                """
                INSERT INTO tags (device, name, position, application, kind, value, sequence)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, .int(device), .text(name), .int(Int64(position)), .int(application),
                .int(kind.rawValue), value, .int(sequence))
        }
    }

    private func lastSequence(_ name: String, device: Int64) throws(StoreError) -> Int64 {
        try database.first(
            "SELECT sequence FROM tags WHERE device = ? AND name = ? LIMIT 1", .int(device), .text(name)
        ) { $0.int(0) } ?? 0
    }

    /// The rows that a change leaves of a tag; it stands nowhere yet for a new device.
    func rows(
        after change: TagChange, on place: (device: Int64, name: String)?
    ) throws(StoreError) -> [(TagKind, Value)] {
        switch change {
        case .remove: return [(.removed, .null)]
        case .set(let value): return value.rows
        case .increment(let step):
            guard let place else { return TagValue.sum(nil, step).rows }
            let known = try tags(of: place.device)[place.name]
            return TagValue.sum(known, step).rows
        }
    }

    /// The tags that a device has.
    func tags(of device: Int64) throws(StoreError) -> [String: TagValue] {
        var tags: [String: TagValue] = [:]
        try database.query(
            """
            SELECT name, kind, value, typeof(value) FROM tags
            WHERE device = ? AND kind > 0 ORDER BY name, position
            """, .int(device)
        ) { row throws(StoreError) in
            let name = row.text(0)
            switch TagKind(rawValue: row.int(1)) {
            case .string: tags[name] = .string(row.text(2))
            case .number:
                tags[name] = row.text(3) == "integer" ? .integer(row.int(2)) : .number(row.double(2))
            case .boolean: tags[name] = .boolean(row.int(2) != 0)
            case .list:
                guard case .list(let members)? = tags[name] else {
                    tags[name] = .list([row.text(2)])
                    return
                }
                tags[name] = .list(members + [row.text(2)])
            case .emptyList: tags[name] = .list([])
            case .removed, nil:
                throw StoreError(call: "tags", message: "a tag has the unknown kind \(row.int(1))")
            }
        }
        return tags
    }
}

extension TagValue {
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

    /// What a condition compares with.
    var operand: Value {
        switch self {
        case .string(let text): .text(text)
        case .integer(let number): .int(number)
        case .number(let number): .double(number)
        case .boolean(let truth): .int(truth ? 1 : 0)
        case .list(let members): .text(members.first ?? "")
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
