import Contracts
import Service
import Web

/// Looks at what services say on their admin addresses: whether they work, and what they hold back.
struct AnswerExamination {
    /// How long a service may take to answer, ms.
    static let answerMilliseconds: Int64 = 2_000

    /// What is wrong, and what is merely worth knowing.
    struct Result: Equatable {
        var findings: [Finding] = []
        var remarks: [String] = []
    }

    let configuration: Configuration
    let kernel: KernelView
    let call: (HTTPClientRequest) throws(HTTPClientError) -> HTTPClientResponse

    init(
        _ configuration: Configuration, kernel: KernelView = KernelView(),
        by call: @escaping (HTTPClientRequest) throws(HTTPClientError) -> HTTPClientResponse = {
            request throws(HTTPClientError) in try HTTPClient.perform(request)
        }
    ) {
        (self.configuration, self.kernel, self.call) = (configuration, kernel, call)
    }

    /// Asks the instances that run, and the first one of each other service: its lock may be out of sight, as from
    /// outside a container.
    func ask(_ running: [RunExamination.Running]) -> Result {
        let services = Set(running.map(\.name.service))
        let others = Deployment.goingDown.filter { !services.contains($0) }.map { InstanceName($0) }
        return (running.map { ($0.name, $0.process) } + others.map { ($0, nil) }).reduce(into: Result()) {
            ask($1.0, $1.1, &$0)
        }
    }

    private func ask(_ name: InstanceName, _ process: Int?, _ result: inout Result) {
        if let process, kernel.isHeld(process) {
            result.findings.append(
                Finding(
                    "\(name) (process \(process)) is held: it does nothing and does not answer",
                    "kill -CONT \(process) has it go on, or restart it; what it has accepted is not lost"))
            return
        }
        do throws(HTTPClientError) {
            let answer = try call(request(name, "/readyz"))
            let lacks = String(decoding: answer.body.prefix(400), as: UTF8.self).split(separator: "\n")
            // Who stands by works as it should.
            guard answer.status == 200 || lacks.contains(where: { $0.hasPrefix("standing by") }) else {
                result.findings.append(
                    Finding(
                        "\(name) is not ready: \(lacks.joined(separator: ", "))",
                        "see to what it lacks; its log says more"))
                return
            }
            if name.service == .tokenRegistry { takePauses(try call(request(name, "/metrics")), &result) }
        } catch {
            // Where nobody listens nothing runs, or it is just starting.
            guard error.reason == .timedOut else { return }
            result.findings.append(
                Finding(
                    "\(name) does not answer within \(Self.answerMilliseconds / 1_000) s",
                    "its log and its CPU time tell whether it is busy or stuck; restart it if this lasts"))
        }
    }

    private func request(_ name: InstanceName, _ path: String) -> HTTPClientRequest {
        AdminAddress(name, configuration).request(path, timeoutMilliseconds: Self.answerMilliseconds)
    }

    // MARK: Pauses

    private func takePauses(_ answer: HTTPClientResponse, _ result: inout Result) {
        let metrics = MetricsText(String(decoding: answer.body, as: UTF8.self))
        for sample in metrics.samples where sample.name == "liveline_paused" && sample.value == 1 {
            let (code, environment) = (sample.labels["application"] ?? "", sample.labels["environment"] ?? "")
            let reason = sample.labels["reason"] ?? ""
            let what = "application \(code) is paused in \(environment)"
            if reason == "by-call" {
                result.remarks.append("\(what), by a call of /pause")
            } else {
                result.findings.append(
                    Finding("\(what): \(reason)", "\(Self.remedy(reason)); what waits then goes out"))
            }
        }
    }

    /// What to do about a fault (Apple, Handling notification responses from APNs; `no-key` is ours).
    private static func remedy(_ reason: String) -> String {
        let reload = "and send SIGHUP"
        switch reason {
        case "no-key": return "name a key for this environment under its keys, \(reload)"
        case "BadDeviceToken":
            return "its phones' tokens are of another environment or app: correct environment or bundleId, "
                + reload
        case "TopicDisallowed":
            return "its key may not push to this app: correct bundleId or keys, \(reload)"
        default:
            return "APNs refuses its key: correct teamId, keyId and file as Apple's developer portal shows "
                + "them, \(reload)"
        }
    }
}
