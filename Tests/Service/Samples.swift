import Contracts

@testable import Service

let registry = InstanceName(.tokenRegistry)
let limiter = InstanceName(.rateLimiter)
let gateway = InstanceName(.apnsGateway)
let ingest = InstanceName(.ingest)
let segmenter = InstanceName(.segmenter)

func command(_ sequence: Int64, application: String = "A") -> Command {
    Command(
        sequence: sequence, application: application, kind: .update, run: 1, activity: "order-1",
        order: Order(seconds: 1_700_000_000, sequence: sequence), acceptedAtMilliseconds: 1_700_000_000_000,
        audience: .activity, payload: Payload(contentState: Array(#"{"step":1}"#.utf8)))
}

func target(_ device: Int64, message: Int64 = 1, attempt: Int = 1, token: String = "00") -> Target {
    Target(
        id: PushID(message: message, device: device), attempt: attempt, participant: device,
        order: Order(seconds: 1_700_000_000, sequence: message), token: token, environment: .production,
        apnsID: "00000000-0000-4000-8000-000000000001", priority: 10, pace: Pace(),
        intervalMilliseconds: 15_000, burst: 1, notBeforeMilliseconds: 0,
        sendBeforeMilliseconds: 1_700_000_030_000)
}

func targets(_ targets: [Target], application: String = "A") -> Message {
    .targets(
        Targets(
            application: application, notification: Notification(event: .update, expirationSeconds: 0),
            targets: targets, payload: Payload(contentState: [0x7B, 0x7D])))
}

func pushes(_ devices: [Int64], application: String = "A") -> Message {
    .pushes(
        Pushes(
            application: application, notification: Notification(event: .update, expirationSeconds: 0),
            pushes: devices.map { Push(target($0), timestampSeconds: 1) }, payload: Payload()))
}

func batch(_ index: Int, message: Int64 = 1) -> Message {
    .batch(
        Batch(
            pass: Pass(epoch: 1, number: 1), index: index, last: false, recipients: [],
            command: command(message)))
}

func report(_ device: Int64, message: Int64 = 1, attempt: Int = 1) -> Message {
    .report(
        Report(
            id: PushID(message: message, device: device), attempt: attempt, application: "A",
            environment: .production, result: .delivered))
}

func key(_ device: Int64, message: Int64 = 1, attempt: Int = 1) -> CustodyKey {
    .push(PushID(message: message, device: device), attempt: attempt)
}

func hello(_ windows: Windows = Windows()) -> Hello { Hello(windows: windows) }

extension Message {
    /// The devices of its targets or pushes.
    var devices: [Int64] {
        switch self {
        case .targets(let targets): targets.targets.map(\.id.device)
        case .pushes(let pushes): pushes.pushes.map(\.id.device)
        default: []
        }
    }
}
