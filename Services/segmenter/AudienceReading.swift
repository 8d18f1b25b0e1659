import Contracts
import Store

/// Reads the devices that a filter matches, a little at each turn, as they are at one moment.
///
/// The moment is that of the connection's first query: what is written meanwhile, by this process or another, it does
/// not see. It never waits for anything, so that the log that it holds on to stays short.
struct AudienceReading {
    /// The devices found so far and not taken out yet.
    var found: DeviceSet
    /// How many devices have been found.
    private(set) var foundCount = 0
    private(set) var isComplete = false

    /// The connection to give back; nil in memory, where the reading has to end in the turn that began it.
    private(set) var reader: Database?
    private var database: Database
    private let plan: FilterPlan
    private let joinedMax: Int64
    /// The application's last device.
    private let last: Int64
    private var conditions: [ConditionReader]
    private var countedConditions = 0
    /// How many devices those hold.
    private(set) var heldCount = 0
    private var cursor: Int64
    /// The stretch being read: for each condition the devices that fulfil it.
    private var stretch: Stretch?

    private struct Stretch {
        var whole: DeviceStretch
        var conditions: [DeviceStretch]
        /// The reads that are left: condition, and which of its values.
        var reads: ArraySlice<(condition: Int, span: Int)>
    }

    /// Begins a reading.
    ///
    /// - Parameters:
    ///   - filter: whom it is for.
    ///   - application: the application's code.
    ///   - joinedMax: the sequence of the message: devices that were counted in later are left out.
    ///   - nowMilliseconds: the moment from which days are counted back, in milliseconds since 1970.
    ///   - profiles: where they are.
    /// - Throws: `StoreError` if the store fails.
    init(
        _ filter: Filter, application: String, joinedMax: Int64, nowMilliseconds: Int64, in profiles: Profiles
    ) throws(StoreError) {
        reader = try profiles.beginReading()
        database = reader ?? profiles.database
        self.joinedMax = joinedMax
        let number = try Profiles.application(application, in: database) ?? 0
        let base = DeviceNumber.base(ofApplication: number)
        let day = nowMilliseconds / 86_400_000 - (nowMilliseconds % 86_400_000 < 0 ? 1 : 0)
        plan = try FilterPlan(filter, application: number, today: day, in: database)
        conditions = plan.conditions.map(ConditionReader.init)
        last =
            try database.first(
                "SELECT id FROM devices WHERE id > ? AND id < ? ORDER BY id DESC LIMIT 1", .int(base),
                .int(DeviceNumber.base(ofApplication: number + 1)), row: { $0.int(0) }) ?? base
        found = DeviceSet(base: base)
        cursor = base + 1
    }

    /// Reads on.
    ///
    /// - Parameter rowsMax: about how many rows may be read; in memory it reads to the end.
    /// - Returns: about how many have been read.
    /// - Throws: `StoreError` if the store fails.
    mutating func advance(rowsMax: Int) throws(StoreError) -> Int {
        var cost = 0
        while !isComplete, reader == nil || cost < rowsMax { cost += try step() }
        return cost
    }

    /// Gives the connection back; what has been found stays.
    mutating func end(in profiles: Profiles) throws(StoreError) {
        guard let reader else { return }
        self.reader = nil
        // Whoever reads over that connection next can then close it by letting it go.
        database = profiles.database
        try profiles.endReading(reader)
    }

    private mutating func step() throws(StoreError) -> Int {
        if countedConditions < conditions.count {
            guard !conditions[countedConditions].isCounted else {
                heldCount += conditions[countedConditions].heldCount
                countedConditions += 1
                return 0
            }
            return try conditions[countedConditions].count(
                in: database, room: ConditionReader.heldMax - heldCount)
        }
        guard var current = stretch else { return try beginStretch() }
        guard let (condition, span) = current.reads.popFirst() else { return try endStretch(current) }
        stretch = nil
        let cost = try conditions[condition].read(span, into: &current.conditions[condition], in: database)
        stretch = current
        return cost
    }

    /// Begins the next stretch in which there may be somebody.
    private mutating func beginStretch() throws(StoreError) -> Int {
        guard let next = try next(plan.root, from: cursor), next <= last else {
            isComplete = true
            return 0
        }
        let base = DeviceNumber.base(ofApplication: DeviceNumber.application(ofDevice: next))
        // What lies before the cursor was in the stretch before this one.
        let whole = DeviceStretch(start: base + (next - base) & ~63)
        var reads: [(condition: Int, span: Int)] = []
        for (index, condition) in conditions.enumerated() {
            reads += condition.many.indices.map { (condition: index, span: $0) }
        }
        stretch = Stretch(
            whole: whole, conditions: conditions.map { $0.few(in: whole) }, reads: reads[...])
        return Cost.seek * (1 + conditions.count)
    }

    /// Joins what has been read of a stretch, and leaves out who is not there.
    private mutating func endStretch(_ current: Stretch) throws(StoreError) -> Int {
        stretch = nil
        cursor = current.whole.end
        var matched = devices(plan.root, current)
        let cost = try leaveOutUnreachable(&matched)
        found.append(matched)
        foundCount += matched.count
        return cost
    }

    private func devices(_ node: FilterPlan.Node, _ stretch: Stretch) -> DeviceStretch {
        switch node {
        case .everyone: return DeviceStretch(start: stretch.whole.start, isFull: true)
        case .condition(let index): return stretch.conditions[index]
        case .all(let nodes):
            var result = DeviceStretch(start: stretch.whole.start, isFull: true)
            for node in nodes { result.formIntersection(devices(node, stretch)) }
            return result
        case .any(let nodes):
            var result = DeviceStretch(start: stretch.whole.start)
            for node in nodes { result.formUnion(devices(node, stretch)) }
            return result
        case .except(let from, let minus):
            var result = devices(from, stretch)
            result.subtract(devices(minus, stretch))
            return result
        }
    }

    /// A number before which, from the given one on, nobody is meant; nil where nobody is left.
    private func next(_ node: FilterPlan.Node, from device: Int64) throws(StoreError) -> Int64? {
        switch node {
        case .everyone: return device
        case .condition(let index): return try conditions[index].next(from: device, in: database)
        case .all(let nodes):
            var device = device
            for node in nodes {
                guard let next = try next(node, from: device) else { return nil }
                device = next
            }
            return device
        case .any(let nodes):
            var first: Int64?
            for node in nodes {
                guard let next = try next(node, from: device) else { continue }
                first = min(first ?? .max, next)
            }
            return first
        case .except(let from, _): return try next(from, from: device)
        }
    }

    /// Live Activities exist on iOS (device type 1) alone; a device that names no type counts as one.
    static let reachable = "active = 1 AND joined <= ? AND (device_type IS NULL OR device_type = 1)"

    private func leaveOutUnreachable(_ matched: inout DeviceStretch) throws(StoreError) -> Int {
        let count = matched.count
        guard count > 0 else { return 0 }
        var reachable = DeviceStretch(start: matched.start)
        // One by one is cheaper than to walk along where few are meant.
        guard count * 8 >= Int(DeviceStretch.width) else {
            for device in matched.devices {
                try database.query(
                    SQL("SELECT id FROM devices WHERE id = ? AND \(AudienceReading.reachable)"), .int(device),
                    .int(joinedMax)
                ) { reachable.insert($0.int(0)) }
            }
            matched.formIntersection(reachable)
            return Cost.seek * count
        }
        try database.query(
            SQL("SELECT id FROM devices WHERE id >= ? AND id < ? AND \(AudienceReading.reachable)"),
            .int(matched.start), .int(matched.end), .int(joinedMax)
        ) { reachable.insert($0.int(0)) }
        matched.formIntersection(reachable)
        return Cost.seek + Int(DeviceStretch.width)
    }
}
