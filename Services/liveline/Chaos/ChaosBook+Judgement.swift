// MARK: - Judgement

extension ChaosBook {
    /// What the door says about a settled message.
    struct Settled: Equatable, Sendable {
        var delivered: Int
        /// Deliveries that failed, expired or were unreachable.
        var errors: Int
        /// All deliveries; nil when the door was not asked for it.
        var total: Int?
        /// When the last of them had its outcome, if it was asked for.
        var settledAt: Int64?
    }

    /// Compares what the door says with what the phones got.
    ///
    /// What a gateway may have taken with it is only believed when `isLate`: until then evidence may come.
    ///
    /// - Returns: what does not fit; nil if all does, and then the message is done with.
    mutating func judge(_ number: ChaosNumber, _ settled: Settled, isLate: Bool) -> String? {
        guard let activity = activities[number.serial], let message = activity.open[number.step] else {
            return nil
        }
        if let moment = settled.settledAt, settled.delivered == 1, let reach = message.reaches.first,
            message.reaches.count == 1, activity.places.count == 1, reach.isTold
        {
            timeline.committed(reach.answered, at: moment)
        }
        if !isLate, settled.delivered != message.reaches.count { return "early: \(name(number))" }
        if let fault = fault(message, of: activity, settled) { return "\(fault): \(name(number))" }
        tally.settled += 1
        tally.delivered += settled.delivered
        tally.errors += settled.errors
        tally.superseded += max(
            0, (settled.total ?? activity.deliveries(message.kind)) - settled.delivered - settled.errors)
        forget(number)
        return nil
    }

    private func fault(_ message: Message, of activity: Activity, _ settled: Settled) -> String? {
        let certain = message.reaches.count { excuse($0, until: .max / 2) == nil }
        guard (certain...message.reaches.count).contains(settled.delivered) else {
            return "delivered is \(settled.delivered), APNs has had it \(message.reaches.count) times, "
                + "\(certain) of them for certain"
        }
        guard !activity.hasStrayed else { return nil }
        // An end that finds its start unsent settles both without a push.
        let unstarted = activity.endAccepted ? activity.places.count { !$0.isStarted } : 0
        let mayFail = message.reaches.count - certain + unstarted
        if settled.errors > mayFail { return "\(settled.errors) deliveries failed" }
        if message.kind == .end, let end = activity.newestAccepted,
            let hardwareID = activity.waiting(for: end).first
        {
            return "\(hardwareID) has not had it"
        }
        // What the registry takes only after the end of its run finds nobody.
        let most = activity.deliveries(message.kind)
        let least = activity.endAccepted ? 0 : most
        if let total = settled.total, !(least...most).contains(total) {
            return "\(total) deliveries in the place of \(most)"
        }
        return nil
    }

    /// Something is wrong with a message to the very end.
    mutating func condemn(_ number: ChaosNumber, _ fault: String) {
        tally.condemned += 1
        breach(fault)
        forget(number)
    }

    /// A message is not settled to the very end.
    mutating func unsettled(_ number: ChaosNumber) {
        tally.unsettled += 1
        breach("not settled: \(name(number))")
    }

    /// How many phones with a new token still have to get an end.
    var lateEndCount: Int { lateEnds.values.reduce(0) { $0 + $1.missing.count } }

    /// Sees that ends have reached the phones whose tokens had changed.
    mutating func checkLateEnds() {
        for (_, late) in lateEnds.sorted(by: { $0.key < $1.key }) {
            for hardwareID in late.missing {
                breach("\(hardwareID) never had the end of \(late.name) (its token has changed)")
            }
        }
    }

    /// Sees that every accepted message was judged, so that none is forgotten by the run itself.
    mutating func balance() {
        let open = tally.accepted - tally.settled - tally.unsettled - tally.condemned
        if open != 0 { breach("\(open) accepted messages were not judged") }
    }

    /// Compares what a phone shows in the end with the newest state that was accepted.
    mutating func check(_ serial: Int, place: Int, shown: Int?) {
        guard let activity = activities[serial], let newest = activity.newestAccepted, !activity.isDismissed
        else { return }
        tally.phones += 1
        guard shown != ChaosNumber(serial: serial, step: newest).packed else { return }
        let step = shown.map { "state \(ChaosNumber(packed: $0).step)" } ?? "nothing"
        breach(
            "\(activity.places[place].hardwareID) shows \(step) of \(activity.name), the newest is \(newest)"
                + (activity.hasStrayed ? " (its token has changed)" : ""))
    }
}
