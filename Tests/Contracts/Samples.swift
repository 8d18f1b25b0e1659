import Contracts

/// One example of each message and of each of its cases, by the name of its golden file.
let samples: [(name: String, messages: [Message])] = [
    ("hello", [.hello(Hello(windows: Windows(batches: 8), paused: [pause]))]),
    ("registration-profile", [.registration(registration(.profile(profile)))]),
    ("registration-tags", [.registration(registration(.tags(tagChanges)))]),
    ("registration-user", [.registration(registration(.user("user 7")))]),
    ("registration-unregister", [.registration(registration(.unregister))]),
    ("registration-start-token", [.registration(registration(.startToken(startToken)))]),
    ("registration-activity-token", [.registration(registration(.activityToken(activityToken)))]),
    ("registrations", [.registrations(group)]),
    ("command-start", [.command(start)]),
    ("command-update", [.command(update(.activity)), .command(update(.token("00ff")))]),
    ("command-cancel", [.command(cancel)]),
    ("command-pause", [.command(pauseCommand)]),
    ("command-channel", [.command(channelStart)]),
    (
        "batch",
        [.batch(Batch(pass: pass, index: 1, last: true, recipients: ["dev-1", "dév-2"], command: start))]
    ),
    ("targets", [.targets(targets)]),
    ("targets-channel", [.targets(channelTargets)]),
    ("retarget", [.retarget(Retarget(id: pushID, attempt: 2, token: "00ff"))]),
    ("pushes", [.pushes(pushes)]),
    ("pushes-channel", [.pushes(channelPushes)]),
    ("report", [.report(fullReport), .report(shortReport)]),
    ("taken-command", [.taken(.command(message: 7))]),
    ("taken-batch", [.taken(.batch(message: 7, pass: pass, index: 1))]),
    ("taken-registration", [.taken(.registration(sequence: 8, by: .segmenter))]),
    ("busy", [.busy(Busy(message: 7, pass: pass, index: 1)), .busy(Busy(message: 7))]),
    ("settled", [.settled(settled)]),
    ("fact", [.fact(fact)]),
    ("noted", [.noted(Noted(custodyKeys))]),
    ("query", queries.map { .query(Query(id: 3, application: "AAAAA-00001", kind: $0)) }),
    ("answer", answers.map { .answer(Answer(id: 3, content: $0)) }),
    (
        "query-channel",
        channelQuestions.map {
            .query(Query(id: 3, application: "AAAAA-00001", kind: .channel(question: $0)))
        }
    ),
    ("answer-channel", channelAnswers.map { .answer(Answer(id: 3, content: $0)) }),
    ("query-missing", [.query(Query(id: 3, application: "AAAAA-00001", kind: .missing(messages: [7, 9])))]),
    ("answer-missing", [.answer(Answer(id: 3, content: .missing(messages: [9])))]),
]

/// The parcel that a golden file holds.
func parcel(_ messages: [Message]) -> Parcel {
    let sender = Sender(InstanceName(.tokenRegistry, 2), epoch: 9_007_199_254_740_991)
    let envelope = Envelope(
        type: messages.first?.type ?? .hello, id: 41, from: sender, sentAtMilliseconds: 1_700_000_000_123)
    return Parcel(envelope: envelope, messages: messages)
}

/// Every kind of key.
let custodyKeys: [CustodyKey] = [
    .registration(sequence: 8, by: .segmenter), .command(message: 7),
    .batch(message: 7, pass: pass, index: 1), .push(pushID, attempt: 2), .report(pushID, attempt: 2),
    .taken(message: 7), .registered(sequence: 8, by: .tokenRegistry), .settled(message: 7, revision: 1),
    .fact(number: 5),
]

let pass = Pass(epoch: 9_007_199_254_740_990, number: 3)
let pushID = PushID(message: 7, device: 11)
let pause = Pause(application: "AAAAA-00001", environment: .sandbox)
let order = Order(seconds: 1_700_000_000, sequence: 7)

/// Bytes that a decoder and printer would change.
let payload = Payload(
    contentState: Array(#"{"a": 1.0, "b": 9007199254740993, "c": 1e400, "d": "👩‍👩‍👧‍👦"}"#.utf8),
    attributes: Array(#"{"order":"\u00e9/\/"}"#.utf8), alert: Array(#""Hi""#.utf8))

let notification: Notification = {
    var notification = Notification(event: .start, priority: 5, expirationSeconds: 1_700_000_600)
    notification.attributesType = "Order/Attributes"
    notification.timestampSeconds = 1_700_000_000
    notification.staleDateSeconds = 1_700_000_500
    notification.relevanceScore = "75.50"
    notification.inputPushToken = "1"
    notification.fallback = Notification.Fallback(title: "Order", body: "On its way")
    return notification
}()

let group = RegistrationGroup(
    sequence: 8, application: "AAAAA-00001", acceptedAtMilliseconds: 1_700_000_000_050,
    entries: [
        .init(sequence: 8, device: "dev-1", change: .profile(profile)),
        .init(sequence: 9, device: "dev-1", change: .startToken(startToken)),
    ])

let start = Command(
    sequence: 7, application: "AAAAA-00001", kind: .start, run: 7, activity: "order-1", order: order,
    acceptedAtMilliseconds: 1_700_000_000_100, audience: .filter(filter), notification: notification,
    payload: payload)

func update(_ audience: Audience) -> Command {
    Command(
        sequence: 9, application: "AAAAA-00001", kind: .update, run: 7, activity: "order-1", order: order,
        acceptedAtMilliseconds: 1_700_000_000_100, audience: audience,
        notification: Notification(event: .update, expirationSeconds: 0),
        payload: Payload(contentState: payload.contentState))
}

let cancel: Command = {
    var command = Command(
        sequence: 10, application: "AAAAA-00001", kind: .cancel, run: 7, activity: "order-1", order: order,
        acceptedAtMilliseconds: 1_700_000_000_100, audience: .activity)
    command.cancelledMessage = 7
    return command
}()

let pauseCommand: Command = {
    var command = Command(
        sequence: 11, application: "AAAAA-00001", kind: .pause, run: 0, activity: "", order: order,
        acceptedAtMilliseconds: 1_700_000_000_100, audience: .devices([]))
    command.environment = .production
    return command
}()

let filter: Filter = .except(
    .all([
        .everyone, .tag(name: "Länge", comparison: .between, values: [.integer(1), .number(2.5)]),
        .any([.tag(name: "vip", comparison: .equal, values: [.boolean(true)])]),
    ]), minus: .tag(name: "city", comparison: .oneOf, values: [.string("Köln"), .list(["a", "b"])]))

func registration(_ change: Registration.Change) -> Registration {
    Registration(
        sequence: 8, application: "AAAAA-00001", device: "dev-1", change: change,
        acceptedAtMilliseconds: 1_700_000_000_050)
}

let profile: Profile = {
    var profile = Profile()
    profile.pushToken = "00ff"
    profile.deviceType = 1
    profile.environment = .sandbox
    profile.osVersion = "17.2"
    profile.timezoneSeconds = -3_600
    profile.tags = ["vip": .set(.boolean(true))]
    profile.frequentPushes = false
    return profile
}()

let tagChanges: [String: TagChange] = [
    "name": .set(.string("Ä/b")), "count": .increment(.integer(-2)), "old": .remove,
    "size": .set(.number(0.5)), "many": .set(.list(["x", "y"])),
]

let startToken = StartToken(
    token: "00ff", attributesType: "OrderAttributes", registeredAtSeconds: 1_700_000_000)
let activityToken = ActivityToken(token: "", activity: "order-1", run: 7)

let target = Target(
    id: pushID, attempt: 2, participant: 5, order: order, token: "00ff", environment: .production,
    apnsID: "00000000-0000-4000-8000-000000000001", collapseID: "c1", priority: 10,
    wireTimestampSeconds: 1_700_000_001, pace: pace, intervalMilliseconds: 15_000, burst: 1,
    notBeforeMilliseconds: 1_700_000_000_000, sendBeforeMilliseconds: 1_700_000_030_000, trial: true)

let pace: Pace = {
    var pace = Pace()
    pace.sent(
        atMilliseconds: 1_700_000_000_000, priority: 10, intervalMilliseconds: 15_000, order: order,
        wireSeconds: 1_700_000_000)
    return pace
}()

let targets = Targets(
    application: "AAAAA-00001", notification: notification, targets: [target], payload: payload)
let pushes = Pushes(
    application: "AAAAA-00001", notification: notification,
    pushes: [Push(target, timestampSeconds: 1_700_000_001)], payload: payload)

let fullReport: Report = {
    var report = Report(
        id: pushID, attempt: 2, application: "AAAAA-00001", environment: .production, result: .failed,
        status: 410, reason: "Unregistered")
    report.apnsTimestampMilliseconds = 1_700_000_000_000
    report.token = "00ff"
    report.sentAtMilliseconds = 1_700_000_000_400
    report.wireTimestampSeconds = 1_700_000_000
    report.priority = 10
    return report
}()

let shortReport: Report = {
    var report = Report(
        id: pushID, attempt: 3, application: "AAAAA-00001", environment: .sandbox, result: .retry,
        reason: "send-before")
    report.retryAtMilliseconds = 1_700_000_001_000
    return report
}()

let settled: Settled = {
    var counts = OutcomeCounts()
    counts[.delivered] = 3
    counts[.unreachable] = 1
    return Settled(message: 7, revision: 1, counts: counts, settledAtMilliseconds: 1_700_000_002_000)
}()

let fact: Fact = {
    var fact = Fact(number: 5, application: "AAAAA-00001", kind: .tokenDied, registrationSequence: 8)
    fact.token = "00ff"
    return fact
}()

let queries: [Query.Kind] = [
    .tags(device: "dev-1"), .audience(filter: .everyone), .deliveries(message: 7, after: 0, limit: 100),
    .participants(run: 7, after: 3, limit: 10),
]

let answers: [Answer.Content] = [
    .tags(values: ["vip": .boolean(true)]), .count(devices: 12),
    .deliveries(lines: [
        DeliveryLine(
            deviceNumber: 11, device: "dev-1", state: "failed", reason: "Unregistered",
            apnsID: "00000000-0000-4000-8000-000000000001", atMilliseconds: 1_700_000_000_000)
    ]),
    .participants(lines: [ParticipantLine(number: 5, device: "dev-1", state: "active")]),
]

// MARK: Broadcast channels

let channel = Channel(id: "dHN0LXNyY2gtY2hubA==", environment: .sandbox, isStored: true)

let channelStart: Command = {
    var command = start
    command.channel = channel
    command.notification?.inputPushToken = nil
    command.notification?.inputPushChannel = channel.id
    return command
}()

let channelTarget: Target = {
    var changed = target
    changed.token = ""
    changed.environment = .sandbox
    changed.channel = channel
    return changed
}()

let channelTargets = Targets(
    application: "AAAAA-00001", notification: Notification(event: .update, expirationSeconds: 1_700_000_600),
    targets: [channelTarget, target], payload: Payload(contentState: payload.contentState))
let channelPushes = Pushes(
    application: "AAAAA-00001", notification: channelTargets.notification,
    pushes: [Push(channelTarget, timestampSeconds: 1_700_000_001)], payload: channelTargets.payload)

let channelQuestions: [ChannelQuestion] = [
    .create(environment: .production, isStored: false), .read(environment: .sandbox, id: channel.id),
    .delete(environment: .sandbox, id: channel.id), .list(environment: .production),
]

let channelAnswers: [Answer.Content] = [
    .channel(answer: .created(application: "AAAAA-00001", channel: channel)),
    .channel(answer: .read(channel: channel)), .channel(answer: .deleted(id: channel.id)),
    .channel(answer: .listed(ids: [channel.id])),
    .channel(answer: .refused(status: 400, reason: "ChannelNotRegistered")),
    .channel(answer: .unanswered(reason: "no-answer")),
    .participants(lines: [
        {
            var line = ParticipantLine(number: 5, device: "dev-1", state: "active")
            line.isOnChannel = true
            return line
        }()
    ]),
]
