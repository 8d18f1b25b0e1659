import Foundation
import Synchronization
import Web

/// A server on a thread of its own, for commands that wait for their answers.
///
/// It answers each call with the next of the answers for its method and path; the last one stays.
final class HTTPStub: Sendable {
    typealias Answer = (status: Int, body: String)

    /// What its thread and the test share.
    private final class Shared: Sendable {
        let answers: Mutex<[String: [Answer]]>
        let requests = Mutex<[String]>([])
        let port = Mutex<UInt16?>(nil)
        let isOver = Atomic(false)
        let begun = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)

        let address: HTTPAddress

        init(_ answers: [String: [Answer]], at address: HTTPAddress) {
            self.answers = Mutex(answers)
            self.address = address
        }

        func answer(_ request: HTTPRequest) -> Answer {
            let name = "\(request.method) \(request.path)"
            requests.withLock { $0.append("\(name) \(String(decoding: request.body, as: UTF8.self))") }
            return answers.withLock { answers in
                guard let left = answers[name], let first = left.first else {
                    return (404, #"{"error":"\#(name)"}"#)
                }
                if left.count > 1 { answers[name]?.removeFirst() }
                return first
            }
        }

        func serve() {
            let server = try? HTTPServer(address) { request, exchange in
                let answer = self.answer(request)
                exchange.respond(status: answer.status, body: Array(answer.body.utf8))
            }
            port.withLock { $0 = server?.port }
            begun.signal()
            while let server, !isOver.load(ordering: .relaxed) {
                Poller(server).run(timeoutMilliseconds: 10) { false }
            }
            server?.close()
            ended.signal()
        }
    }

    private let shared: Shared

    /// Answers calls by names such as `GET /path`.
    init(
        _ answers: [String: [Answer]], at address: HTTPAddress = .tcp(host: "127.0.0.1", port: 0)
    ) {
        let shared = Shared(answers, at: address)
        self.shared = shared
        Thread.detachNewThread { shared.serve() }
        shared.begun.wait()
    }

    deinit {
        shared.isOver.store(true, ordering: .relaxed)
        shared.ended.wait()
    }

    var url: String { "http://127.0.0.1:\(shared.port.withLock { $0 } ?? 0)" }

    /// The calls so far, as `METHOD /path body`.
    var requests: [String] { shared.requests.withLock { $0 } }
}
