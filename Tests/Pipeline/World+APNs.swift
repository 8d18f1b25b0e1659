import Contracts
import Foundation
import Service

@testable import apns_gateway

/// APNs takes pushes, answers them, or does not.
extension World {
    func orders(_ orders: [APNsOrder], of gateway: InstanceName) {
        for case .request(let request) in orders { take(request, gateway) }
    }

    private func take(_ request: APNsRequest, _ gateway: InstanceName) {
        onPush(request)
        let life = lives[gateway] ?? 0
        let sentAt = now.monotonic
        func tell(_ event: APNsEvent, inMilliseconds delay: Int) {
            plan(.apns(event, to: gateway, life: life), inMilliseconds: Int64(delay))
        }
        if let refusal {
            trace("APNs \(gateway) refuses \(request.id.push): \(refusal.reason)")
            let answer = APNsAnswer(status: refusal.status, reason: refusal.reason)
            return tell(
                .answered(request.id, answer, sentAtMilliseconds: sentAt),
                inMilliseconds: random.number(1...50))
        }
        if random.happens(faults.refuse) {
            let (status, reason) =
                random.pick([
                    (500, "InternalServerError"), (503, "ServiceUnavailable"), (429, "TooManyRequests"),
                ]) ?? (500, "")
            trace("APNs \(gateway) refuses \(request.id.push): \(status)")
            tell(
                .answered(request.id, APNsAnswer(status: status, reason: reason), sentAtMilliseconds: sentAt),
                inMilliseconds: random.number(1...50))
            return
        }
        let silent = random.happens(faults.silent)
        if silent, random.happens(0.5) {
            tell(
                .unanswered(request.id, sentAtMilliseconds: sentAt),
                inMilliseconds: Int(request.answerWithinMilliseconds))
            return
        }
        var (arrival, activity) = arrival(request, of: gateway)
        if silent { arrival.knowledge = .silent }
        let verdict = phones.receive(arrival, activity: activity)
        trace("APNs \(gateway) \(arrival.brief): \(verdict.status)\(silent ? ", silent" : "")")
        if let started = verdict.started { obtainToken(started.hwid, started.activity) }
        guard !silent else {
            tell(
                .unanswered(request.id, sentAtMilliseconds: sentAt),
                inMilliseconds: Int(request.answerWithinMilliseconds))
            return
        }
        let answer = APNsAnswer(
            status: verdict.status, reason: verdict.reason, timestampMilliseconds: verdict.timestamp)
        tell(.answered(request.id, answer, sentAtMilliseconds: sentAt), inMilliseconds: random.number(1...50))
    }

    private func arrival(_ request: APNsRequest, of gateway: InstanceName) -> (Arrival, activity: String?) {
        let object = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any]
        let aps = object?["aps"] as? [String: Any] ?? [:]
        let state = aps["content-state"] as? [String: Any] ?? [:]
        let attributes = aps["attributes"] as? [String: Any]
        let arrival = Arrival(
            at: phonesNow, push: request.id.push, gateway: gateway, apnsID: request.apnsID,
            token: request.token, event: aps["event"] as? String ?? "",
            n: state["n"] as? Int ?? -1, timestamp: Int64(aps["timestamp"] as? Int ?? 0),
            priority: request.group.priority,
            channel: request.group.form == .device ? aps["input-push-channel"] as? String : request.token)
        return (arrival, attributes?["activity"] as? String)
    }

    /// A phone gets the activity's token after a while and registers it, as an app does.
    func obtainToken(_ hwid: String, _ activity: String) {
        plan(
            .act { [unowned self] in rotate(hwid, activity) },
            inMilliseconds: Int64(random.number(100...20_000)))
    }

    /// Gives an activity on a phone a new token, which the phone registers; one in three times later, so that what comes
    /// meanwhile meets the dead one.
    func rotate(_ hwid: String, _ activity: String) {
        let waiting = Set((phoneCalls[hwid] ?? []).map(\.token))
        let new = phones.rotate(hwid, activity, at: phonesNow, isToBeTold: waiting.contains)
        guard let token = new else { return }
        trace("\(hwid) has token \(token.suffix(4)) for \(activity)")
        let request = ["hwid": hwid, "activity_id": activity, "activity_token": token]
        let pause = random.happens(0.33) ? Int64(random.number(1_000...25_000)) : 0
        tell(
            PhoneCall(method: "setActivityToken", request: request, token: token, pauseMilliseconds: pause),
            phone: hwid)
    }
}

/// Times in which APNs refuses whatever the application sends.
extension World {

    /// Plans times of refusals, each with its end.
    func planRefusals(_ refusals: [(status: Int, reason: String)]) {
        for _ in 1...random.number(1...3) {
            let begin = Int64(random.number(8_000...110_000))
            let refusal = random.pick(refusals)
            plan(.act { [unowned self] in self.refusal = refusal }, inMilliseconds: begin)
            plan(
                .act { [unowned self] in self.refusal = nil },
                inMilliseconds: begin + Int64(random.number(100...60_000)))
        }
        plan(.act { [unowned self] in self.refusal = nil }, inMilliseconds: 125_000)
    }
}
