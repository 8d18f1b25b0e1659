/// What must hold when the world has been kind for long enough.
struct Promises {
    let world: World
    let story: Story

    func breaches() -> [String] {
        var breaches = world.phones.violations
        if !story.unsettled.isEmpty {
            breaches.append("\(story.unsettled.count) of \(story.codes.count) messages are not settled")
        }
        for process in world.processes where process.keptCount > 0 {
            breaches.append("\(process.instance) keeps \(process.keptCount) that nobody answers")
        }
        for activity in story.activities {
            breaches += miscounted(activity)
            // A start that is taken back may have reached some phones, and promises nothing.
            if activity.startAccepted, !activity.cancelled.contains(0) {
                breaches += neverStarted(activity)
                breaches += unfinished(activity)
            }
        }
        return breaches
    }

    /// The outcomes of a message that the door counts wrongly.
    private func miscounted(_ activity: Story.Activity) -> [String] {
        activity.accepted.sorted { $0.key < $1.key }.flatMap { n, code -> [String] in
            let outcomes = story.outcomes[code] ?? [:]
            let total = outcomes.values.reduce(0, +)
            let delivered = outcomes["delivered"] ?? 0
            var wrong: [String] = []
            // A filter's audience is whoever the door knew when it accepted the start.
            let least =
                n > 0 || activity.cancelled.contains(0)
                ? 0 : activity.isForAll ? activity.reachable?.count ?? 0 : activity.devices.count
            if !(least...activity.devices.count).contains(total) {
                wrong.append(
                    "\(activity.name) n=\(n): \(total) outcomes for \(activity.devices.count) devices")
            }
            let (told, got) = receivers(of: n, in: activity)
            if !(told...max(told, got)).contains(delivered) {
                wrong.append("\(activity.name) n=\(n): delivered is \(delivered), not \(told) to \(got)")
            }
            return wrong
        }
    }

    /// How many phones APNs has taken a state for: those whose gateway can tell, and all.
    private func receivers(of n: Int, in activity: Story.Activity) -> (told: Int, got: Int) {
        let arrivals = activity.devices.map { device in
            world.phones.arrivals.of(.init(hwid: device, activity: activity.name)).filter {
                $0.n == n && $0.status == 200
            }
        }
        return (
            arrivals.count { $0.contains { $0.knowledge == .told } }, arrivals.count { !$0.isEmpty }
        )
    }

    /// Phones that were to show an activity and never have.
    ///
    /// An end that finds a start unsent settles the start `superseded`: nobody is started for a moment.
    private func neverStarted(_ activity: Story.Activity) -> [String] {
        let missed = (activity.reachable ?? []).filter { world.phones.shown[$0]?[activity.name] == nil }
        let code = activity.accepted[0] ?? ""
        if activity.endAccepted != nil, missed.count <= story.outcomes[code]?["superseded"] ?? 0 { return [] }
        return missed.map { "\(activity.name) was never started on \($0)" }
    }

    /// What a phone shows although the door has accepted something newer.
    private func unfinished(_ activity: Story.Activity) -> [String] {
        guard let newest = activity.accepted.keys.filter({ !activity.cancelled.contains($0) }).max() else {
            return []
        }
        // What a state has replaced does not come back when that state is cancelled; it is superseded, or has failed where
        // it met a token that had died.
        let outcomes = story.outcomes[activity.accepted[newest] ?? ""] ?? [:]
        let isReplaced =
            activity.cancelled.contains { $0 > newest }
            && outcomes["superseded", default: 0] + outcomes["failed", default: 0] > 0
        return activity.devices.compactMap { device in
            guard let shown = world.phones.shown[device]?[activity.name] else { return nil }
            if let end = activity.endAccepted, !shown.ended {
                return "\(activity.name) goes on at \(device) after its end \(end): \(shown)"
            }
            guard let last = shown.n.last, last >= newest || isReplaced else {
                return "\(activity.name) at \(device) shows \(shown.n), newest is \(newest)"
            }
            return nil
        }
    }
}
