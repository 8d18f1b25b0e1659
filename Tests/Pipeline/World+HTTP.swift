import Contracts
import Foundation
import Service

@testable import ingest

/// Servers and phones call the door.
extension World {
    func send(_ call: Call) {
        guard let ingest, ingest.isAlive else {
            if call.isRepeated { plan(.call(call), inMilliseconds: 500) }
            return
        }
        nextCall += 1
        calls[nextCall] = call
        let number = nextCall
        ingest.deliver(
            .request(
                HTTPCall(
                    id: number, method: call.method, path: call.path,
                    headers: [.init(name: "Authorization", value: "Bearer k-test")],
                    body: Array(call.body.utf8))))
        guard call.isRepeated else { return }
        // A phone tries again when it gets no answer.
        plan(
            .act { [unowned self] in if let lost = calls.removeValue(forKey: number) { send(lost) } },
            inMilliseconds: 3_000)
    }

    func replies(_ outputs: [IngestOutput]) {
        for case .reply(let reply) in outputs {
            guard let call = calls.removeValue(forKey: reply.id) else { continue }
            let object = (try? JSONSerialization.jsonObject(with: Data(reply.body))) as? [String: Any] ?? [:]
            call.answered(reply.status, object)
        }
    }

    /// Answers what came while the journal failed.
    func refuse(_ events: [IngestEvent]) {
        for case .request(let request) in events {
            guard let call = calls.removeValue(forKey: request.id) else { continue }
            call.answered(503, [:])
        }
    }

    /// Calls a Pushwoosh method; `answered` gets the `status_code` and the `response`.
    func pushwoosh(
        _ method: String, _ request: [String: Any], isRepeated: Bool = false,
        answered: @escaping (Int, [String: Any]) -> Void = { _, _ in }
    ) {
        var request = request
        request["application"] = World.application
        let data = (try? JSONSerialization.data(withJSONObject: ["request": request])) ?? Data()
        send(
            Call(
                path: ["json", "1.3", method], body: String(decoding: data, as: UTF8.self),
                isRepeated: isRepeated
            ) {
                status, body in
                let code = body["status_code"] as? Int ?? status
                answered(code, body["response"] as? [String: Any] ?? [:])
            })
    }

    /// Calls the own door until it says yes; an answer that is lost is asked for again.
    func own(_ method: String, _ path: [String], done: @escaping () -> Void) {
        send(
            Call(method: method, path: path, body: "", isRepeated: true) { [unowned self] status, _ in
                guard status == 200 else {
                    guard status >= 500 else { return }
                    return plan(
                        .act { [unowned self] in own(method, path, done: done) }, inMilliseconds: 1_000)
                }
                done()
            })
    }

    /// Asks for a message's state; `answered` gets the body.
    func state(of code: String, answered: @escaping ([String: Any]) -> Void) {
        send(
            Call(method: "GET", path: ["v1", "messages", code], body: "", isRepeated: false) { answered($1) })
    }

    /// What a phone tells the door.
    struct PhoneCall {
        var method: String
        var request: [String: Any]
        /// The token that it is about.
        var token = ""
        /// How long it waits before it is made, once it is the next.
        var pauseMilliseconds: Int64 = 0
        var answered: () -> Void = {}
    }

    /// A phone tells the door something once it has told all that went before.
    ///
    /// Its calls reach the door in this order: the SDK makes them one after the other, and the order in which the
    /// door accepts the tokens of one place is what tells the newer from the older.
    func tell(_ call: PhoneCall, phone hwid: String) {
        phoneCalls[hwid, default: []].append(call)
        if phoneCalls[hwid]?.count == 1 { tellNext(hwid) }
    }

    private func tellNext(_ hwid: String) {
        guard let call = phoneCalls[hwid]?.first else { return }
        guard call.pauseMilliseconds > 0 else { return tell(call, of: hwid) }
        plan(.act { [unowned self] in tell(call, of: hwid) }, inMilliseconds: call.pauseMilliseconds)
    }

    private func tell(_ call: PhoneCall, of hwid: String) {
        pushwoosh(call.method, call.request, isRepeated: true) { [unowned self] status, _ in
            trace("\(hwid) \(call.method) \(call.token.suffix(4)): \(status)")
            guard status < 500 else {
                // The door was busy: a phone comes again.
                return plan(.act { [unowned self] in tell(call, of: hwid) }, inMilliseconds: 1_000)
            }
            phoneCalls[hwid]?.removeFirst()
            call.answered()
            tellNext(hwid)
        }
    }
}
