import Contracts
import Service
import Synchronization
import Testing

@testable import Web
@testable import liveline

/// What the doctor makes of the answers of services, of APNs and of a proxy.
@Suite(.timeLimit(.minutes(10)))
struct DoctorAnswerTests {
    /// Asks services that answer so, by the end of the URL or socket; those that are not named are not there.
    private func ask(
        _ answers: [String: (Int, String)], running: [RunExamination.Running] = [],
        kernel: KernelView = KernelView(), silent: String? = nil
    ) -> AnswerExamination.Result {
        AnswerExamination(Configuration(), kernel: kernel) { request throws(HTTPClientError) in
            let name = (request.unixSocketPath ?? "").split(separator: "/").last ?? ""
            let place = String(name).replacing(
                ".admin", with: request.url.dropFirst("http://localhost".count))
            if String(name) == silent { throw HTTPClientError(.timedOut) }
            guard let answer = answers[place] else { throw HTTPClientError(.connectionFailed) }
            return HTTPClientResponse(status: answer.0, headers: [:], body: Array(answer.1.utf8))
        }.ask(running)
    }

    @Test func `services that are ready, stand by, or are not there are none`() {
        let running = [1, 2].map { RunExamination.Running(name: InstanceName(.ingest, $0), process: 0) }
        let result = ask(
            [
                "ingest.1/readyz": (200, "ready\n"),
                "ingest.2/readyz": (503, "standing by: another ingest works\n"),
            ], running: running)
        #expect(result == .init())
    }

    @Test func `one that cannot work, and one that does not answer, are`() {
        let result = ask(
            ["segmenter.1/readyz": (503, "no ingest heard\nstarting\n")], silent: "ingest.1.admin")
        #expect(
            result.findings.map(\.what) == [
                "ingest.1 does not answer within 2 s", "segmenter.1 is not ready: no ingest heard, starting",
            ])
    }

    @Test func `one that is held is, and says how to have it go on`() {
        let kernel = KernelView(
            read: { $0 == "/proc/77/stat" ? "77 (segmenter) T 1" : nil }, links: { _ in [] })
        let result = ask(
            [:], running: [.init(name: InstanceName(.segmenter, 2), process: 77)], kernel: kernel)
        #expect(
            result.findings.map(\.what) == [
                "segmenter.2 (process 77) is held: it does nothing and does not answer"
            ])
        #expect(result.findings.first?.remedy.contains("kill -CONT 77") == true)
    }

    @Test(arguments: [
        ("InvalidProviderToken", "correct teamId, keyId and file"), ("no-key", "name a key"),
        ("BadDeviceToken", "environment"), ("TopicDisallowed", "bundleId"),
    ])
    func `an application that a fault has paused is one`(reason: String, remedy: String) {
        let result = ask([
            "token-registry.1/readyz": (200, "ready\n"),
            "token-registry.1/metrics": (
                200,
                """
                liveline_paused{application="A-1",environment="production",reason="\(reason)"} 1
                liveline_paused{application="A-1",environment="production",reason="Former"} 0
                liveline_paused{application="A-2",environment="sandbox",reason="by-call"} 1
                """
            ),
        ])
        #expect(result.findings.map(\.what) == ["application A-1 is paused in production: \(reason)"])
        #expect(result.findings.first?.remedy.contains(remedy) == true)
        #expect(result.remarks == ["application A-2 is paused in sandbox, by a call of /pause"])
    }

    // MARK: APNs

    private func reach(_ url: String, proxy: String? = nil, isRunning: Bool = true) -> [Finding] {
        var configuration = Configuration()
        configuration.applications = [.init(code: "A", bundleID: "b")]
        configuration.apns.production = url
        configuration.apns.proxy = proxy
        return ReachExamination(configuration: configuration, isRunning: isRunning).findings
    }

    @Test func `a simulator that is not there is one only while a gateway would need it`() {
        #expect(reach("https://127.0.0.1:1").count == 1)
        #expect(reach("https://127.0.0.1:1", isRunning: false) == [])
        #expect(reach("https://localhost:1", isRunning: false) == [])
    }

    @Test func `with a proxy it is asked, and named where it opens no tunnel`() throws {
        let asked = Mutex<[String]>([])
        let proxy = try ListeningProxy { line in asked.withLock { $0.append(line) } }
        let findings = reach("https://apns.invalid", proxy: "http://u:secret@127.0.0.1:\(proxy.port)")
        #expect(asked.withLock { $0 } == ["CONNECT apns.invalid:443 HTTP/1.1"])
        #expect(findings.count == 1)
        #expect(
            findings.first?.what.hasPrefix("https://apns.invalid cannot be reached through apns.proxy: ")
                == true)
        #expect(findings.first?.text.contains("secret") == false)
        #expect(reach("https://apns.invalid", proxy: "http://127.0.0.1:1").count == 1)
    }
}
