/// What a load run is to do.
struct LoadParameters: Sendable, Equatable {
    /// The kinds of load.
    enum Scenario: String, Sendable, CaseIterable {
        /// Many activities with one device each, updated at a fixed rate.
        case orders
        /// One activity on many devices.
        case fanOut = "fan-out"
        /// Single updates with nothing else to do.
        case latency
        /// A bulk import of devices.
        case importing = "import"
        /// Updates that wait while APNs cannot be reached.
        case outage
        /// Single updates of one application while another starts an activity on many devices.
        case neighbours
    }

    var scenario = Scenario.orders
    var activities = 5_000
    var devices = 20_000
    /// Sends a second; nil takes the scenario's.
    var rate: Int64?
    var seconds: Int64 = 60
    var sends: Int64 = 1_000
    /// How many messages wait for APNs.
    var messages = 1_000_000
    var settleSeconds: Int64 = 180
    /// How long nothing is sent between setting up and the run, seconds, so that no pace holds back its first pushes.
    var restSeconds: Int64?
    /// Pushes of a participant are this far apart, seconds; for a deployment of its own.
    var intervalSeconds: Int64?
    var killsEach = false

    /// The drill's scale: 2,000 updates to 500 activities.
    static let drill = (activities: 500, updates: Int64(2_000), rate: Int64(100), intervalSeconds: Int64(2))

    /// When sends are due.
    var schedule: OpenLoop {
        switch scenario {
        case .orders where killsEach: OpenLoop(rate: rate ?? Self.drill.rate, count: Self.drill.updates)
        case .orders: OpenLoop(rate: rate ?? 500, count: (rate ?? 500) * seconds)
        case .fanOut, .importing: OpenLoop(rate: 1, count: 1)
        case .outage: OpenLoop(rate: 1, count: Int64(messages))
        case .latency: OpenLoop(rate: rate ?? 50, count: sends)
        case .neighbours: OpenLoop(rate: rate ?? 50, count: (rate ?? 50) * seconds)
        }
    }

    /// How many activities there are.
    var activityCount: Int {
        switch scenario {
        case .orders: killsEach ? Self.drill.activities : activities
        case .fanOut, .importing: 1
        case .outage: messages
        case .latency: Int(sends)
        // So many that no pace holds one of them back.
        case .neighbours: Int(schedule.rate * (interval + 2))
        }
    }

    /// How many phones each activity is on.
    var devicesPerActivity: Int { scenario == .fanOut ? devices : 1 }

    /// The interval of a deployment of its own, seconds.
    var interval: Int64 { intervalSeconds ?? (killsEach ? Self.drill.intervalSeconds : 15) }

    /// How long to rest, seconds.
    var rest: Int64 { restSeconds ?? (scenario == .orders ? 0 : interval + 1) }

    /// What the report tells of them.
    var listed: [(name: String, value: Int)] {
        let phones = activityCount * devicesPerActivity
        return [
            ("activities", activityCount), ("phones", phones), ("sends", Int(schedule.count)),
            ("rate", Int(schedule.rate)),
        ]
    }
}
