import Crypto
import Foundation
import HTTP2
import JSON
import Testing
import Web

@testable import apns_simulator

@Suite(.timeLimit(.minutes(10))) struct EndToEndTests {
    private var nowSeconds: Int64 { Stage.nowMilliseconds() / 1000 }

    private func push(
        _ rig: Rig, _ sender: Sender, _ token: String, _ body: [UInt8]
    ) throws -> HTTP2Response {
        let number = try sender.push(token, body, bearer: rig.bearer)
        try rig.wait { sender.answers[number] != nil }
        return try #require(sender.answers[number])
    }

    @Test func `a phone registers, shows what it gets, and registers again when its token changes`() throws {
        let rig = try Rig()
        let made = #"{"count":2,"prefix":"p-","application":"A","bundleId":"\#(bundle)"}"#
        #expect(try rig.control("POST", "phones", made)["count"]?.int64 == 2)
        try rig.wait { rig.registrations("setActivityPushToStartToken") == 2 }
        #expect(rig.registrations("registerDevice") == 2)

        let phone = try rig.control("GET", "phones/p-2")
        let start = try #require(phone["startTokens"]?.elements?.first?["token"]?.string)
        let sender = try rig.sender()
        let started = try push(rig, sender, start, startBody(timestamp: nowSeconds, id: "order-9"))
        #expect(started.status == 200)
        #expect(started.body == [])
        #expect(started.headers["apns-unique-id"] == nil)
        try rig.wait { rig.registrations("setActivityToken") == 1 }
        #expect(rig.registered("setActivityToken", "activity_id") == "order-9")
        #expect(rig.registered("setActivityToken", "hwid") == "p-2")
        let first = try #require(rig.registered("setActivityToken", "activity_token"))
        let update = changeBody(timestamp: nowSeconds + 1, state: #"{"n":2.0}"#)
        #expect(try push(rig, sender, first, update).status == 200)

        _ = try rig.control("POST", "phones/p-2/rotate", #"{"activity":"order-9"}"#)
        try rig.wait { rig.registrations("setActivityToken") == 2 }
        let second = try #require(rig.registered("setActivityToken", "activity_token"))
        let gone = try push(rig, sender, first, update)
        #expect(gone.status == 410)
        #expect(gone.reason == "Unregistered")
        #expect(try push(rig, sender, second, changeBody("end", timestamp: nowSeconds + 2)).status == 200)

        let shown = try rig.control("GET", "phones/p-2")["history"]?.elements?.map { $0["verdict"]?.string }
        #expect(shown == ["started", "updated", "ended"])
        let counters = try rig.control("GET", "counters")
        #expect(counters["answers"]?["410 Unregistered"]?.int64 == 1)
        #expect(counters["registrations"]?["accepted"]?.int64 == 6)
    }

    @Test func `a connection may open one stream, and many after its first success`() throws {
        let rig = try Rig()
        let phone = try rig.control(
            "POST", "phones", #"{"hwid":"p","application":"A","tokens":{"start":"ab"}}"#)
        #expect(phone["count"]?.int64 == 1)
        let sender = try rig.sender()
        try rig.wait { sender.limits.contains(1) }
        let wrong = try sender.push("ab", startBody(), bearer: providerToken(keyID: keyID))
        try rig.wait { sender.answers[wrong] != nil }
        #expect(sender.answers[wrong]?.status == 403)
        #expect(sender.answers[wrong]?.reason == "InvalidProviderToken")
        #expect(sender.answers[wrong]?.headers["content-type"] == "application/json")
        #expect(sender.limits.last == 1)
        #expect(try push(rig, sender, "ab", startBody(timestamp: nowSeconds)).status == 200)
        try rig.wait { sender.limits.last == 1000 }
    }

    @Test func `the sandbox is a world of its own`() throws {
        let rig = try Rig()
        let made = #"{"hwid":"p","application":"A","environment":"sandbox","tokens":{"start":"ab"}}"#
        _ = try rig.control("POST", "phones", made)
        let production = try rig.sender()
        let sandbox = try rig.sender(.sandbox)
        let body = startBody(timestamp: nowSeconds)
        #expect(try push(rig, production, "ab", body).reason == "BadDeviceToken")
        let answer = try push(rig, sandbox, "ab", body)
        #expect(answer.status == 200)
        #expect(answer.headers["apns-unique-id"] != nil)
        #expect(rig.registered("registerDevice", "gateway") == "sandbox")
    }

    @Test func `scripted answers come in order: refused, delayed, never, GOAWAY, closed`() throws {
        let rig = try Rig()
        _ = try rig.control("POST", "phones", #"{"hwid":"p","application":"A","tokens":{"start":"ab"}}"#)
        let sender = try rig.sender()
        #expect(try push(rig, sender, "ab", startBody(timestamp: nowSeconds, id: "0")).status == 200)
        try rig.wait { sender.limits.last == 1000 }
        _ = try rig.control(
            "POST", "script",
            #"""
            [{"count":1,"action":"refuse"},{"count":1,"delayMilliseconds":30},{"count":1,"action":"never"},
             {"count":1,"action":"goaway","reason":"Shutdown"}]
            """#)
        let numbers = try (0..<4).map { place in
            try sender.push("ab", startBody(timestamp: nowSeconds, id: "\(place)"), bearer: rig.bearer)
        }
        try rig.wait { sender.goAways.count == 1 && sender.settled == 4 }
        #expect(sender.failures[numbers[0]] == .refused)
        #expect(sender.answers[numbers[1]]?.status == 200)
        #expect(sender.failures[numbers[2]] == nil && sender.answers[numbers[2]] == nil)
        #expect(sender.failures[numbers[3]] == .goAwayAboveLast)
        #expect(sender.goAways == [#"{"reason":"Shutdown"}"#])

        let other = try rig.sender()
        _ = try rig.control("POST", "script", #"{"count":1,"action":"close"}"#)
        _ = try other.push("ab", startBody(timestamp: nowSeconds), bearer: rig.bearer)
        try rig.wait { other.isClosed }
        #expect(try rig.control("GET", "counters")["streams"]?["closed"]?.int64 == 1)
    }

    @Test(arguments: [
        (#"{"nth":5,"action":"goaway"}"#, 4), (#"{"nth":5,"action":"goaway","delayMilliseconds":30}"#, 4),
        (#"{"nth":5,"action":"close"}"#, 4),
    ])
    func `behind the end of a connection nothing is judged or delivered`(rule: String, delivered: Int) throws
    {
        let rig = try Rig()
        _ = try rig.control(
            "POST", "phones",
            #"{"count":60,"prefix":"g-","application":"A","registerWith":null,"activity":{"id":"m"}}"#)
        try rig.wait { rig.server.stage.simulator.fleet.registrations.waiting == 0 }
        let fleet = rig.server.stage.simulator.fleet
        let tokens = (0..<60).compactMap { fleet.updateToken(of: $0).map(fleet.token) }
        let sender = try rig.sender()
        #expect(try push(rig, sender, tokens[0], changeBody(timestamp: nowSeconds)).status == 200)
        try rig.wait { sender.limits.last == 1000 }
        _ = try rig.control("POST", "script", rule)
        for token in tokens {
            _ = try sender.push(token, changeBody(timestamp: nowSeconds), bearer: rig.bearer)
        }
        try rig.wait { sender.settled == 61 }
        #expect(sender.answers.count == 1 + delivered)
        let counters = try rig.control("GET", "counters")
        #expect(counters["answers"]?["200"]?.int64 == Int64(1 + delivered))
        let sum = try rig.control("GET", "phones?prefix=g-")
        #expect(sum["pushes"]?.int64 == Int64(1 + delivered))
    }

    @Test func `connections are steered through the control port`() throws {
        let rig = try Rig()
        let sender = try rig.sender()
        _ = try rig.control("POST", "connections", #"{"streamLimit":20}"#)
        try rig.wait { sender.limits.last == 20 }
        _ = try rig.control("POST", "connections", #"{"goAway":"IdleTimeout"}"#)
        try rig.wait { sender.goAways == [#"{"reason":"IdleTimeout"}"#] }
        let other = try rig.sender()
        _ = try rig.control("POST", "connections", #"{"close":true}"#)
        try rig.wait { other.isClosed }
        #expect(try rig.control("GET", "counters")["connections"]?["opened"]?.int64 == 2)
    }

    @Test func `ten thousand phones register and are reached`() throws {
        let rig = try Rig(["--token-bytes", "32"])
        _ = try rig.control(
            "POST", "phones",
            #"{"count":10000,"prefix":"l-","application":"A","registerWith":null,"activity":{"id":"m"}}"#)
        try rig.wait { rig.server.stage.simulator.fleet.registrations.waiting == 0 }
        let sender = try rig.sender()
        let fleet = rig.server.stage.simulator.fleet
        let tokens = (0..<500).compactMap { fleet.updateToken(of: $0).map(fleet.token) }
        #expect(try push(rig, sender, tokens[0], changeBody(timestamp: nowSeconds)).status == 200)
        try rig.wait { sender.limits.last == 1000 }
        for token in tokens.dropFirst() {
            _ = try sender.push(token, changeBody(timestamp: nowSeconds), bearer: rig.bearer)
        }
        try rig.wait { sender.answers.count == 500 }
        let sum = try rig.control("GET", "phones?prefix=l-")
        #expect(sum["active"]?.int64 == 10_000)
        #expect(sum["pushes"]?.int64 == 500)
        #expect(sum["states"]?.elements?.first?["count"]?.int64 == 500)
        let arrivals = try rig.control("GET", "arrivals?since=490")
        #expect(arrivals["arrivals"]?.elements?.count == 10)
    }

    @Test func `what does not start says which code it ends with`() throws {
        let scratch = try Scratch()
        func code(_ arguments: [String]) throws -> Int32? {
            do {
                let server = try SimulatorServer(try SimulatorOptions(arguments))
                server.close()
                return nil
            } catch let fault as StartFault {
                return fault.exitCode
            }
        }
        let common = ["--listen", "127.0.0.1:0", "--control", "127.0.0.1:0"]
        #expect(try code(common + ["--key", "TEAM123456:KEY1234567:\(scratch.path)/none.pem"]) == 78)
        #expect(try code(common + ["--any-key", "--certificate-out", "/nowhere/ca.pem"]) == 78)
        let rig = try Rig()
        let taken = rig.server.listeners[0].port
        #expect(try code(["--any-key", "--listen", "127.0.0.1:\(taken)", "--control", "127.0.0.1:0"]) == 75)
        let control = try #require(rig.server.control.port)
        #expect(
            try code(["--any-key", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:\(control)"]) == 75)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ExecutableTests {
    private func executable() -> URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "apns-simulator")
    }

    private func run(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
        let process = Process()
        let output = Pipe()
        process.executableURL = executable()
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return (process, output)
    }

    @Test func `it says ready in one line and ends with 0 after SIGTERM`() throws {
        let scratch = try Scratch()
        let certificate = scratch.path + "/ca.pem"
        let (process, output) = try run([
            "--any-key", "--listen", "127.0.0.1:0", "--control", "unix:\(scratch.path)/c",
            "--certificate-out",
            certificate,
        ])
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        #expect(line.contains("ready"))
        #expect(line.contains("control=unix:\(scratch.path)/c"))
        #expect(line.count { $0 == "\n" } == 1)
        #expect(try String(contentsOfFile: certificate, encoding: .utf8).contains("BEGIN CERTIFICATE"))
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(process.terminationReason == .exit)
    }

    @Test(arguments: [("--help", 0), ("--version", 0), ("--fast", 64)] as [(String, Int32)])
    func `it answers and ends`(_ argument: String, _ code: Int32) throws {
        let (process, output) = try run([argument])
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == code)
        if argument == "--help" { #expect(text == Help.text) }
        if argument == "--fast" { #expect(text.contains("--fast: unknown option")) }
    }
}
