import Contracts

/// What was done to services and connections, and when: by this the book tells what a repeat may come of.
///
/// Times are milliseconds since 1970.
struct ChaosTimeline: Equatable, Sendable {
    enum Kind: String, Sendable, CaseIterable { case kill, hold, restart }

    /// A time in which a service does not work.
    struct Incident: Equatable, Sendable {
        var service: ServiceName
        var kind: Kind
        var from: Int64
        /// When its process had ended; nil while it runs, and for one that is held.
        var ended: Int64?
        /// When it worked again; nil as long as it does not.
        var to: Int64?
        /// Of an end of the gateway: the registry is known to have committed what was answered up to here before it.
        var committed: Int64

        /// When the process ended; nil as long as it has not.
        var end: Int64? { kind == .kill ? from : kind == .restart ? ended : nil }
    }

    private(set) var incidents: [Incident] = []
    /// Which of them befell a gateway.
    private var ofGateways: [Int] = []
    /// Times in which connections to APNs may end.
    private(set) var closings: [ClosedRange<Int64>] = []
    private var committed = Int64.min

    /// How long before the end of a connection an answer may have been given that it took with it.
    static let closingMilliseconds: Int64 = 500

    /// How long after its return the registry may need to take what was kept for it.
    static let returnMilliseconds: Int64 = 3_000

    /// Notes an incident.
    ///
    /// - Returns: its place, for `ended` and `over`.
    mutating func begin(_ kind: Kind, _ service: ServiceName, at now: Int64) -> Int {
        if service == .apnsGateway { ofGateways.append(incidents.count) }
        incidents.append(Incident(service: service, kind: kind, from: now, committed: committed))
        return incidents.count - 1
    }

    mutating func ended(_ place: Int, at now: Int64) { incidents[place].ended = now }
    mutating func over(_ place: Int, at now: Int64) { incidents[place].to = now }

    /// Notes that connections to APNs may end from now on, until `closed`.
    mutating func closes(at now: Int64) { closings.append(now...Int64.max) }

    /// Notes that what was noted by the first so many calls of `closes` ends them no longer.
    mutating func closed(_ count: Int, at now: Int64) {
        for place in closings.indices.prefix(count) where closings[place].upperBound == .max {
            let from = closings[place].lowerBound
            closings[place] = from...max(from, now)
        }
    }

    /// Notes that an answer of APNs was committed by the registry at a moment.
    ///
    /// Reports go from gateway to registry in the order of their answers, so that earlier ones were committed too.
    mutating func committed(_ answered: Int64, at moment: Int64) {
        committed = max(committed, answered)
        for place in ofGateways {
            guard let end = incidents[place].end, end >= moment else { continue }
            incidents[place].committed = max(incidents[place].committed, answered)
        }
    }

    /// The end of a gateway, no later than `until`, that took with it what it knew of a push.
    ///
    /// It is one that found the push on the wire, or its answer not yet committed by the registry as far as anyone
    /// knows. A gateway that is asked to stop waits for that, unless the registry does not work. What comes to APNs
    /// on a connection that is older than the end was sent before it, and so was all that comes until the next life
    /// is ready.
    func end(ofGatewayWith reach: ChaosBook.Reach, until: Int64) -> Int64? {
        for incident in ofGateways.lazy.map({ incidents[$0] }) {
            guard let end = incident.end, end <= until, reach.answered > incident.committed,
                reach.connectedAt <= end || reach.arrived <= incident.to ?? .max
            else { continue }
            if incident.kind == .kill || isDisturbed(.tokenRegistry, incident.from, end) { return end }
        }
        return nil
    }

    /// How many answers were in flight when gateways ended, each counted once for each end.
    ///
    /// - Parameter answers: when APNs answered, ascending.
    /// - Returns: their number.
    func lost(of answers: [Int64]) -> Int {
        ofGateways.reduce(0) { sum, place in
            guard let end = incidents[place].end, end > incidents[place].committed else { return sum }
            let after = Self.count(of: answers, upTo: incidents[place].committed)
            return sum + Self.count(of: answers, upTo: end) - after
        }
    }

    /// How many of ascending numbers are no greater than one.
    private static func count(of sorted: [Int64], upTo last: Int64) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] <= last { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether connections may have ended between an arrival and a later moment, and its answer with them.
    func isCutOff(answered: Int64, since arrived: Int64, until: Int64) -> Bool {
        let end = min(until, answered + Self.closingMilliseconds)
        return arrived <= end && closings.contains { $0.overlaps(arrived...end) }
    }

    /// How often each was done to a service.
    func count(_ kind: Kind, _ service: ServiceName) -> Int {
        incidents.count { $0.kind == kind && $0.service == service }
    }

    private func isDisturbed(_ service: ServiceName, _ from: Int64, _ to: Int64) -> Bool {
        incidents.contains {
            $0.service == service && $0.from <= to && ($0.to ?? .max) >= from - Self.returnMilliseconds
        }
    }
}
