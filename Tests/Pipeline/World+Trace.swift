import Contracts
import Foundation
import Service

/// What happened, line by line on standard error, when `TESTS_FOLLOW` is set: for finding out why a seed fails.
extension World {
    func trace(_ text: @autoclosure () -> String) {
        guard isTraced else { return }
        FileHandle.standardError.write(Data("\(phonesNow - World.start) \(text())\n".utf8))
    }

    func traceSent(_ parcel: Parcel, from: InstanceName, to: InstanceName) {
        guard isTraced else { return }
        for message in parcel.messages { trace("\(from) > \(to) \(message.brief)") }
    }
}

extension Arrival {
    var brief: String { "\(event) n=\(n) \(push.message):\(push.device) to \(token.suffix(4))" }
}

extension Message {
    /// One line about the message, with the names that other messages of the same matter have.
    fileprivate var brief: String {
        switch self {
        case .targets(let targets):
            "targets "
                + targets.targets.map {
                    "\($0.id.message):\($0.id.device)/\($0.attempt) to \($0.token.suffix(4)) at \($0.notBeforeMilliseconds - World.start)"
                }.joined(separator: " ")
        case .pushes(let pushes):
            "pushes "
                + pushes.pushes.map {
                    "\($0.id.message):\($0.id.device)/\($0.attempt) to \($0.token.suffix(4))"
                }
                .joined(separator: " ")
        case .report(let report):
            "report \(report.id.message):\(report.id.device)/\(report.attempt) \(report.result) \(report.status ?? 0) \(report.reason ?? "")"
        case .retarget(let retarget):
            "retarget \(retarget.id.message):\(retarget.id.device)/\(retarget.attempt) to \(retarget.token.suffix(4))"
        case .registration(let registration):
            "registration \(registration.sequence) \(registration.device) \(registration.change.brief)"
        case .registrations(let group): "registrations \(group.sequence) \(group.entries.count)"
        case .command(let command): "command \(command.brief)"
        case .batch(let batch):
            "batch \(batch.command.brief) \(batch.index)\(batch.last ? " last" : "") \(batch.recipients)"
        case .noted(let noted): "noted \(noted.keys)"
        case .fact(let fact):
            "fact \(fact.number) \(fact.kind) \(fact.token?.suffix(4) ?? "") run \(fact.run ?? 0) on \(fact.registrationSequence)"
        case .settled(let settled): "settled \(settled.message) r\(settled.revision) \(settled.counts)"
        case .hello(let hello): "hello \(hello.paused.count)"
        case .taken(let taken): "\(taken)"
        case .busy(let busy): "\(busy)"
        case .query(let query): "query \(query.id)"
        case .answer(let answer): "answer \(answer.id)"
        }
    }
}

extension Command {
    fileprivate var brief: String { "\(sequence) \(kind) \(activity) run \(run)" }
}

extension Registration.Change {
    fileprivate var brief: String {
        switch self {
        case .activityToken(let token): "\(token.activity) run \(token.run) token \(token.token.suffix(4))"
        case .startToken(let token): "start token \(token.token.suffix(4))"
        case .profile: "profile"
        case .tags: "tags"
        case .user: "user"
        case .unregister: "unregister"
        }
    }
}
