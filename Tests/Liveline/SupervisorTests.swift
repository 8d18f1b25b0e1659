import Processes
import Synchronization
import Testing
import Web

@testable import liveline

@Suite(.timeLimit(.minutes(10)))
struct SupervisorTests {
    private let log = Lines()

    /// The lines that children and supervisor write.
    private final class Lines: Sendable {
        private let kept = Mutex<[String]>([])
        var all: [String] { kept.withLock { $0 } }
        func append(_ line: [UInt8]) { kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        func of(_ word: String) -> [String] { all.filter { $0.contains(word) } }
    }

    private func supervisor(
        _ scripts: [(name: String, script: String)], _ settings: SupervisionSettings = SupervisionSettings()
    ) -> Supervisor {
        let plans = scripts.map { ChildPlan(name: $0.name, path: "/bin/sh", arguments: ["-c", $0.script]) }
        return Supervisor(plans, environment: ["PATH": "/usr/bin:/bin"], settings: settings) { [log] in
            log.append($0)
        }
    }

    private func run(_ supervisor: Supervisor, until condition: () -> Bool) {
        let holds = Poller(supervisor.members).run(timeoutMilliseconds: 30_000, until: condition)
        #expect(holds)
    }

    /// Says its name when it is asked to stop.
    private func obedient(_ name: String) -> (name: String, script: String) {
        (name, "trap 'echo \(name) stops; exit 0' TERM; echo \(name) runs; while :; do sleep 0.01; done")
    }

    private func stop(_ supervisor: Supervisor) {
        supervisor.stop()
        supervisor.stop()
        run(supervisor) { supervisor.isOver }
    }

    @Test func `children run, are ready, and go down in order`() {
        let supervisor = supervisor(["a", "b", "c"].map(obedient))
        run(supervisor) { log.of(" runs\n").count == 3 }
        #expect(supervisor.isReady)
        #expect(
            log.of("liveline info ready services=\"a,b,c\"").count
                + log.of("liveline info ready services=a,b,c").count == 1)
        supervisor.stop()
        run(supervisor) { supervisor.isOver }
        #expect(log.of(" stops\n") == ["a stops\n", "b stops\n", "c stops\n"])
    }

    @Test func `the process of a child that is ready is known by its name`() {
        let supervisor = supervisor(["a", "b"].map(obedient))
        #expect(supervisor.readyProcess("b") == nil)
        run(supervisor) { supervisor.isReady }
        #expect(supervisor.readyProcess("b")?.processID == supervisor.children[1].process?.processID)
        #expect(supervisor.readyProcess("c") == nil)
        stop(supervisor)
        #expect(supervisor.readyProcess("b") == nil)
    }

    @Test func `a child that was killed is started again`() {
        let supervisor = supervisor(["a", "b"].map(obedient))
        run(supervisor) { log.of(" runs\n").count == 2 }
        supervisor.children[1].process?.send(.kill)
        run(supervisor) { log.of("b runs\n").count == 2 }
        #expect(log.of("liveline warning ended service=b signal=9").count == 1)
        #expect(log.of("a runs\n").count == 1)
        stop(supervisor)
    }

    @Test func `lines are passed on whole, whichever way they were written`() {
        let script =
            "for i in 1 2 3 4 5; do printf a; printf 'b%s\\n' $i; printf 'error %s\\n' $i >&2; done; printf end"
        let supervisor = supervisor([("x", script)])
        run(supervisor) { log.of("liveline warning ended").count >= 1 }
        stop(supervisor)
        let first = log.all.filter { !$0.hasPrefix("liveline") }.prefix(11)
        #expect(Set(first) == Set((1...5).flatMap { ["ab\($0)\n", "error \($0)\n"] } + ["end\n"]))
    }

    @Test func `much output is neither lost nor cut`() {
        let supervisor = supervisor([("x", "seq 1 20000; exec sleep 100")])
        run(supervisor) { log.all.last == "20000\n" }
        #expect(log.all.filter { !$0.hasPrefix("liveline") } == (1...20_000).map { "\($0)\n" })
        stop(supervisor)
    }

    @Test func `one that does not stop in time is killed`() {
        let settings = SupervisionSettings(drainMilliseconds: 100)
        let supervisor = supervisor(
            [("deaf", "trap '' TERM; echo runs; while :; do sleep 0.01; done")], settings)
        run(supervisor) { log.of("runs\n").count == 1 }
        supervisor.stop()
        run(supervisor) { supervisor.isOver }
        #expect(log.of("ended service=deaf signal=9").count == 1)
    }

    @Test func `a program that is not there is logged and tried again`() {
        let supervisor = Supervisor(
            [ChildPlan(name: "x", path: "/nowhere/x", arguments: [])], environment: [:]
        ) { [log] in log.append($0) }
        run(supervisor) { log.of("liveline error start service=x").count == 2 }
        stop(supervisor)
    }

    @Test func `a probe tells when a child is ready`() throws {
        let isUp = Mutex(false)
        let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { _, exchange in
            exchange.respond(status: isUp.withLock { $0 } ? 200 : 503)
        }
        var plan = ChildPlan(name: "x", path: "/bin/sleep", arguments: ["100"])
        plan.probe = HTTPClientRequest(url: "http://127.0.0.1:\(server.port ?? 0)/readyz")
        let supervisor = Supervisor([plan], environment: [:]) { [log] in log.append($0) }
        let members: [any Pollable] = supervisor.members + [server]
        Poller(members).run(timeoutMilliseconds: 300) { supervisor.isReady }
        #expect(!supervisor.isReady)
        isUp.withLock { $0 = true }
        #expect(Poller(members).run(timeoutMilliseconds: 10_000) { supervisor.isReady })
        stop(supervisor)
    }

    @Test func `a signal for all reaches each of them`() {
        let script = "trap 'echo again' HUP; echo runs; while :; do sleep 0.01; done"
        let supervisor = supervisor([("a", script), ("b", script)])
        run(supervisor) { log.of("runs\n").count == 2 }
        supervisor.send(.hangUp)
        run(supervisor) { log.of("again\n").count == 2 }
        stop(supervisor)
    }
}
