import Crypto
import JSON
import Testing

@testable import apns_simulator

let team = "TEAM123456"
let keyID = "KEY1234567"
let bundle = "com.example.orders"
let activityTopic = bundle + ".push-type.liveactivity"

/// A moment in UNIX seconds at which most tests take place.
let noon: Int64 = 1_800_000_000

/// A provider token whose signature is made of one byte; `good` is what the test verifier takes.
func providerToken(
    keyID: String = keyID, team: String = team, issuedAt: String = "\(noon - 60)",
    algorithm: String = "ES256",
    signature: [UInt8] = good
) -> String {
    let header = Base64URL.encode(Array(#"{"alg":"\#(algorithm)","kid":"\#(keyID)"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"\#(team)","iat":\#(issuedAt)}"#.utf8))
    return "\(header).\(claims).\(Base64URL.encode(signature))"
}

let good = Array(repeating: UInt8(7), count: 64)

/// A simulator with one phone for each environment, and a connection to it.
struct Bench {
    var simulator: Simulator
    var connection: ConnectionRecord
    var nowSeconds = noon

    init(
        keys: [ProviderKeyEntry] = [ProviderKeyEntry(teamID: team, keyID: keyID)],
        rules: APNsRules.Settings = APNsRules.Settings(bundleIDs: [bundle]),
        fleet: FleetSettings = FleetSettings(), answers: Simulator.Settings = Simulator.Settings(),
        environment: APNsEnvironment = .production
    ) {
        let verifier = ProviderTokenVerifier(keys: keys, acceptsAnyKey: false) { _, _, signature in
            signature == good
        }
        simulator = Simulator(
            settings: answers, rules: APNsRules(settings: rules, verifier: verifier),
            fleet: PhoneFleet(settings: fleet))
        for (prefix, world) in [("p-", APNsEnvironment.production), ("s-", .sandbox)] {
            let traits = PhoneGroup.Traits(
                prefix: prefix, application: "AAAAA-00001", bundleID: bundle, environment: world)
            _ = simulator.fleet.add(
                traits, count: 1, firstNumber: nil, isSingle: false, nowMilliseconds: noon * 1000)
        }
        connection = simulator.open(environment)
    }

    var startToken: String { simulator.fleet.token(simulator.fleet.startTokens(of: 0)[0].reference) }
    var deviceToken: String { simulator.fleet.token(simulator.fleet.deviceToken(of: 0)) }

    /// A start that a phone shows, changed as a test wants it.
    func request(
        _ change: (inout APNsRequest) -> Void = { _ in }
    ) -> APNsRequest {
        var headers = APNsHeaders()
        headers.authorization = "bearer " + providerToken()
        headers.topic = activityTopic
        headers.pushType = "liveactivity"
        headers.id = "11111111-2222-4333-8444-555555555555"
        var request = APNsRequest(
            method: "POST", path: "/3/device/" + startToken, headers: headers,
            body: startBody(timestamp: nowSeconds))
        change(&request)
        return request
    }

    mutating func send(_ request: APNsRequest) -> Reaction {
        simulator.receive(request, on: &connection, nowMicroseconds: nowSeconds * 1_000_000)
    }

    mutating func send(_ change: (inout APNsRequest) -> Void = { _ in }) -> Reaction { send(request(change)) }
}

func startBody(
    timestamp: Int64 = noon, id: String? = "order-1", state: String = #"{"n":1}"#, without: String? = nil
) -> [UInt8] {
    let attributes = id.map { #"{"pushwoosh":{"activityId":"\#($0)"}}"# } ?? "{}"
    let members = [
        ("timestamp", "\(timestamp)"), ("event", #""start""#), ("content-state", state),
        ("attributes-type", #""Order""#), ("attributes", attributes),
        ("alert", #"{"title":"t","body":"b"}"#), ("input-push-token", "1"),
    ]
    return aps(members.filter { $0.0 != without })
}

func changeBody(
    _ event: String = "update", timestamp: Int64? = noon, state: String? = #"{"n":2}"#,
    more: [(String, String)] = []
) -> [UInt8] {
    var members = [("event", "\"\(event)\"")]
    if let timestamp { members.append(("timestamp", "\(timestamp)")) }
    if let state { members.append(("content-state", state)) }
    return aps(members + more)
}

func aps(_ members: [(String, String)]) -> [UInt8] {
    Array(#"{"aps":{\#(members.map { #""\#($0)":\#($1)"# }.joined(separator: ","))}}"#.utf8)
}

extension Reaction {
    /// The answer's status, 0 for everything else.
    var status: Int {
        if case .answer(let answer) = outcome { answer.status } else { 0 }
    }

    /// The reason in the answer's body.
    var reason: String? {
        guard case .answer(let answer) = outcome, !answer.body.isEmpty else { return nil }
        return (try? JSONDocument(answer.body))?.root["reason"]?.string
    }

    var answer: Answer? {
        if case .answer(let answer) = outcome { answer } else { nil }
    }
}

extension PhoneFleet {
    /// Lets all planned calls happen; phones of the tests register nowhere unless they say so.
    mutating func settleRegistrations(nowSeconds: Int64 = noon) {
        while let call = nextRegistration(nowMilliseconds: nowSeconds * 1000) {
            finish(call, .accepted, nowMilliseconds: nowSeconds * 1000)
        }
    }
}

/// The value, or a failed test; a mutating call cannot stand inside `#require` itself.
func unwrap<Value>(_ value: Value?) throws -> Value { try #require(value) }
