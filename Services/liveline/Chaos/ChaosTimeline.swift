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
    }

    private(set) var incidents: [Incident] = []
    /// Times in which connections to APNs may end.
    private(set) var closings: [ClosedRange<Int64>] = []
    /// How long an answer may stay uncommitted while gateway and registry both work.
    let doubtMilliseconds: Int64

    /// How long before the end of a connection an answer may have been given that it took with it.
    static let closingMilliseconds: Int64 = 500

    init(doubtMilliseconds: Int64) { self.doubtMilliseconds = doubtMilliseconds }

    /// Notes an incident.
    ///
    /// - Returns: its place, for `ended` and `over`.
    mutating func begin(_ kind: Kind, _ service: ServiceName, at now: Int64) -> Int {
        incidents.append(Incident(service: service, kind: kind, from: now))
        return incidents.count - 1
    }

    mutating func ended(_ place: Int, at now: Int64) { incidents[place].ended = now }
    mutating func over(_ place: Int, at now: Int64) { incidents[place].to = now }

    /// Notes that connections to APNs may end from now on, until `closed`.
    mutating func closes(at now: Int64) { closings.append(now...Int64.max) }

    /// Notes that they do so no longer.
    mutating func closed(at now: Int64) {
        guard let last = closings.last, last.upperBound == .max else { return }
        closings[closings.count - 1] = last.lowerBound...max(last.lowerBound, now)
    }

    /// The end of a gateway, no later than `until`, that took with it what it knew of a push.
    ///
    /// It is one that found the push on the wire, or the answer given so shortly before that the registry may not have
    /// committed it: gateway and registry had not both worked for `doubtMilliseconds` in between. A gateway that is
    /// asked to stop waits for that, unless the registry does not work either.
    func end(ofGatewayWith answered: Int64, since arrived: Int64, until: Int64) -> Int64? {
        for incident in incidents where incident.service == .apnsGateway && incident.kind != .hold {
            let end = incident.kind == .kill ? incident.from : incident.ended ?? until
            guard arrived <= end, end <= until else { continue }
            let mayLose = incident.kind == .kill || isDisturbed(.tokenRegistry, incident.from, end)
            if mayLose, !hasCalm(from: answered, to: end) { return end }
        }
        return nil
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
            $0.service == service && $0.from <= to && ($0.to ?? .max) >= from - doubtMilliseconds
        }
    }

    /// Whether gateway and registry both worked long enough for an answer to be committed.
    private func hasCalm(from: Int64, to: Int64) -> Bool {
        var calmSince = from
        for incident in incidents where incident.service == .apnsGateway || incident.service == .tokenRegistry
        {
            guard incident.from <= to, (incident.to ?? .max) > calmSince else { continue }
            if incident.from - calmSince >= doubtMilliseconds { return true }
            calmSince = max(calmSince, incident.to ?? to)
        }
        return to - calmSince >= doubtMilliseconds
    }
}
