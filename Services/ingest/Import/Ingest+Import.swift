import Contracts
import Service
import Store

/// `POST /v1/applications/{app}/devices:import`: devices as NDJSON, one a line.
///
/// The core keeps nothing of an import but what it has journalled: its adapter counts, and hands in the next piece when
/// the one before it is committed. So one that is cut off, or whose process dies, leaves what was committed, and may be
/// sent again as a whole: the same lines change nothing the second time.
extension Ingest {
    /// Whether a request is a bulk import, whose body is read as it arrives.
    static func isImport(method: String, path: [String]) -> Bool {
        let route = Operation.importDevices.route
        return method == route.method && route.leads(to: path)
    }

    /// Takes a piece of an import.
    mutating func take(_ piece: ImportPiece, at now: Moment, in journal: Journal) throws(StoreError)
        -> [Effect<IngestOutput>]
    {
        let (outcome, effects) = try importLines(piece, at: now, in: journal)
        return effects + [.perform(.imported(id: piece.call.id, outcome))]
    }

    /// Serves an import that has arrived completely, as a process that runs alone gets it.
    mutating func serveImport(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        var cutter = LineCutter(lineBytesMax: limits.importLineBytesMax)
        cutter.append(call.body)
        let piece = ImportPiece(call: call, lines: cutter.lines(.max, isOver: true))
        let (outcome, effects) = try importLines(piece, at: now, in: journal)
        switch outcome {
        case .committed(let tally): return .success(Served(reply: tally.reply(call), effects: effects))
        case .waits: return .failure(.busy("too many registrations are waiting"))
        case .stopped(let refusal): return .failure(refusal)
        }
    }

    private mutating func importLines(_ piece: ImportPiece, at now: Moment, in journal: Journal)
        throws(StoreError) -> (ImportOutcome, [Effect<IngestOutput>])
    {
        let application: String
        switch importer(recognized(piece.call, at: now, in: journal)) {
        case .failure(let refusal):
            let labels = [("door", Door.own.rawValue), ("member", refusal.label)]
            return (.stopped(refusal), [.count(Count("refused", labels))])
        case .success(let code): application = code
        }
        if let refusal = backlog.refusalForSpace { return (.stopped(refusal), []) }
        guard backlog.hasRoom(forImportOf: application) else { return (.waits, []) }
        var tally = ImportTally()
        var refused: [String: Int] = [:]
        var devices: [ImportedDevice] = []
        for line in piece.lines {
            tally.lines = line.number
            let limits = limits
            switch refusable({ () throws(Refusal) in
                try ImportLine.read(line.text, nowSeconds: now.wallSeconds, limits)
            }) {
            case .success(let device): devices.append(device)
            case .failure(let refusal):
                tally.refuse(line.number, refusal, faultsMax: limits.importFaultsMax)
                refused[refusal.label, default: 0] += 1
            }
        }
        tally.accepted = devices.count
        let ignored = try register(devices, application: application, at: now, in: journal)
        return (.committed(tally), counts(devices.count, refused) + importLog(application, ignored))
    }

    /// Whose devices are imported, once the caller may do so.
    private func importer(_ call: HTTPCall) -> Result<String, Refusal> {
        refusable { () throws(Refusal) in
            let application = try access.application(code: call.path[2], of: call)
            // A body that is not held cannot be compared with a former one, and need not be.
            guard call.header("idempotency-key") == nil else {
                throw Refusal(
                    "Idempotency-Key", "is not taken here; an import may be repeated without it",
                    label: "idempotency")
            }
            return application.code
        }
    }

    private func counts(_ accepted: Int, _ refused: [String: Int]) -> [Effect<IngestOutput>] {
        let door = ("door", Door.own.rawValue)
        var effects: [Effect<IngestOutput>] = []
        if accepted > 0 {
            effects.append(.count(Count("accepted", [door, ("kind", "import")], by: accepted)))
        }
        for (label, count) in refused.sorted(by: { $0.key < $1.key }) {
            effects.append(.count(Count("refused", [door, ("member", label)], by: count)))
        }
        return effects
    }

    private func importLog(_ application: String, _ ignored: [String: Int]) -> [Effect<IngestOutput>] {
        ignored.sorted { $0.key < $1.key }.map { why, count in
            .log(
                LogLine(
                    .info, "token-ignored",
                    [("application", application), ("why", why), ("count", "\(count)")]))
        }
    }

    // MARK: Journalling

    /// Journals devices in groups.
    ///
    /// - Returns: how many tokens of activities change nothing, by the reason.
    private mutating func register(
        _ devices: [ImportedDevice], application: String, at now: Moment, in journal: Journal
    ) throws(StoreError) -> [String: Int] {
        var ignored: [String: Int] = [:]
        var group: [ImportedDevice] = []
        var count = 0
        for device in devices {
            if count > 0, count + device.registrationCount > limits.groupRegistrationsMax {
                try insert(group, application, at: now, in: journal, &ignored)
                group = []
                count = 0
            }
            group.append(device)
            count += device.registrationCount
        }
        if !group.isEmpty { try insert(group, application, at: now, in: journal, &ignored) }
        return ignored
    }

    private mutating func insert(
        _ devices: [ImportedDevice], _ application: String, at now: Moment, in journal: Journal,
        _ ignored: inout [String: Int]
    ) throws(StoreError) {
        let first = try journal.nextSequence(of: devices.reduce(0) { $0 + 1 + $1.startTokens.count })
        var group = RegistrationGroup(
            sequence: first, application: application, acceptedAtMilliseconds: now.wall, entries: [])
        var next = first
        for device in devices {
            let changes = [.profile(device.profile)] + device.startTokens.map(Registration.Change.startToken)
            for change in changes {
                group.entries.append(
                    RegistrationGroup.Entry(sequence: next, device: device.hwid, change: change))
                next += 1
            }
        }
        for entry in group.entries {
            guard case .startToken(let token) = entry.change, !token.token.isEmpty else { continue }
            try journal.registerAgain(
                startToken: token.token, application: application, device: entry.device,
                sequence: entry.sequence, atMilliseconds: now.wall)
        }
        for device in devices {
            for token in device.activityTokens {
                let placed = try place(token, of: device.hwid, application, at: now, in: journal)
                switch placed {
                case .entry(let entry): group.entries.append(entry)
                case .ignored(let why): ignored[why, default: 0] += 1
                }
            }
        }
        admit(try journal.insert(group))
    }

    private enum Placed {
        case entry(RegistrationGroup.Entry)
        case ignored(String)
    }

    /// Decides which run an activity's token belongs to, as for one that comes alone.
    private func place(
        _ token: ActivityToken, of device: String, _ application: String, at now: Moment, in journal: Journal
    ) throws(StoreError) -> Placed {
        var token = token
        let registration = Registration(
            sequence: 0, application: application, device: device, change: .activityToken(token),
            acceptedAtMilliseconds: now.wall)
        switch try place(token, registration, at: now, in: journal) {
        case .ignored(let why): return .ignored(why)
        case .run(let number, let activity):
            token.run = number.run
            token.activity = activity
            return .entry(
                RegistrationGroup.Entry(
                    sequence: number.sequence, device: device, change: .activityToken(token)))
        }
    }
}
