import Collections
import Contracts
import JSON
import Web

/// Asks the door what became of accepted messages, many at a time, and has the book judge them.
///
/// A message is judged only when all that had come to APNs before the door's answer is in the book. One that does not
/// fit is asked about again, since a report on its way may change it; it is a breach only in the end.
final class ChaosJudge: Pollable {
    private struct Question {
        let number: ChaosNumber
        let code: String
        var due: Int64
        /// What did not fit the last time.
        var fault: String?
        /// How often its settled state was judged.
        var judged = 0
    }

    private let client: HTTPClient
    private let door: Door
    private let book: Shared<ChaosBook>
    private let feed: ArrivalFeed
    private var waiting = FIFO<Question>()
    /// What is settled otherwise than it should be, or got no answer, and is asked about again soon.
    private var soon = FIFO<Question>()
    private var answered = FIFO<(question: Question, settled: ChaosBook.Settled, at: Int64)>()
    private var asking = 0
    /// How many messages are asked about, or will be.
    private(set) var open = 0
    /// How many of them are settled otherwise than they should be, so far.
    private(set) var misfits = 0
    private var due: Int64 = 0

    /// How long after its acceptance a message is asked about, and each time after that, ms: most are settled by the
    /// first time, since each question costs the door time in which it could accept messages.
    private let patienceMilliseconds: Int64
    /// After what time that is, ms.
    private static let soonMilliseconds: Int64 = 6_000
    private static let (batchMax, batchesMax, pauseMilliseconds) = (200, 4, Int64(100))
    /// How often a message that does not fit is judged before the end of a gateway is an excuse.
    private static let judgedEarly = 3
    /// Of so many messages one is looked at in full.
    private let fullStride: Int

    init(
        _ client: HTTPClient, _ door: Door, _ book: Shared<ChaosBook>, _ feed: ArrivalFeed,
        _ parameters: ChaosParameters
    ) {
        let rate = parameters.rate
        patienceMilliseconds = 6_000 + parameters.intervalSeconds * 1_000
        fullStride = Int(min(16, max(1, rate / 25)))
        (self.client, self.door, self.book, self.feed) = (client, door, book, feed)
    }

    /// Takes an accepted message.
    func add(_ number: ChaosNumber, _ code: String) {
        open += 1
        later(Question(number: number, code: code, due: 0))
    }

    /// Asks again when the message may be settled.
    private func later(_ question: Question) {
        var question = question
        question.due = MonotonicClock.nowMilliseconds() + patienceMilliseconds
        waiting.append(question)
    }

    private func again(_ question: Question) {
        var question = question
        question.due = MonotonicClock.nowMilliseconds() + Self.soonMilliseconds
        soon.append(question)
    }

    /// The next question that is due.
    private func next(_ now: Int64) -> Question? {
        if let first = soon.first, first.due <= now { return soon.popFirst() }
        if let first = waiting.first, first.due <= now { return waiting.popFirst() }
        return nil
    }

    // MARK: Turns

    var descriptor: CInt { -1 }

    var nextDeadlineMilliseconds: Int64? { open == 0 ? nil : due }

    func process(nowMilliseconds: Int64) {
        due = nowMilliseconds + Self.pauseMilliseconds
        while let first = answered.first, feed.completeAtMilliseconds > first.at,
            let next = answered.popFirst()
        {
            judge(next.question, next.settled)
        }
        while asking < Self.batchesMax {
            var batch: [Question] = []
            while batch.count < Self.batchMax, let next = next(nowMilliseconds) { batch.append(next) }
            guard !batch.isEmpty else { return }
            ask(batch)
        }
    }

    private func ask(_ batch: [Question]) {
        asking += 1
        client.send(door.listRequest(batch.map(\.code))) { [weak self] result in
            guard let self else { return }
            asking -= 1
            guard case .success(let answer) = result, answer.status == 200,
                let items = (try? JSONDocument(answer.body))?.root["items"]?.elements
            else { return batch.forEach { self.again($0) } }
            listed(batch, Array(items))
        }
    }

    private func listed(_ batch: [Question], _ items: [JSONValue]) {
        var found: [String: JSONValue] = [:]
        for item in items { if let code = item["code"]?.string { found[code] = item } }
        for question in batch {
            guard let item = found[question.code], item["status"]?.string == "done" else {
                later(question)
                continue
            }
            let metrics = item["metrics"]?.elements?.first
            let settled = ChaosBook.Settled(
                delivered: Int(metrics?["sends"]?.int64 ?? 0), errors: Int(metrics?["errors"]?.int64 ?? 0))
            let isPlain = settled.errors == 0 && question.fault == nil
            if isPlain, (question.number.serial + question.number.step) % fullStride != 0 {
                answered.append((question, settled, MonotonicClock.nowMilliseconds()))
            } else {
                askInFull(question)
            }
        }
    }

    private func askInFull(_ question: Question) {
        client.send(door.statusRequest(question.code)) { [weak self] result in
            guard let self else { return }
            guard case .success(let answer) = result, answer.status == 200,
                let status = MessageStatus(answer.body), status.isSettled
            else { return again(question) }
            let counts = status.counts
            let settled = ChaosBook.Settled(
                delivered: counts.delivered, errors: counts.failed + counts.expired + counts.unreachable,
                total: Outcome.allCases.reduce(0) { $0 + counts[$1] },
                settledAt: (try? JSONDocument(answer.body))?.root["settledAtMilliseconds"]?.int64)
            answered.append((question, settled, MonotonicClock.nowMilliseconds()))
        }
    }

    private func judge(_ question: Question, _ settled: ChaosBook.Settled) {
        var question = question
        if question.fault != nil { misfits -= 1 }
        question.judged += 1
        question.fault = book.value.judge(
            question.number, settled, isLate: question.judged > Self.judgedEarly)
        guard question.fault != nil else { return open -= 1 }
        misfits += 1
        again(question)
    }

    /// Judges what is left: it is a breach.
    ///
    /// What the door is asked about just now the book finds missing.
    func finish() {
        while let next = answered.popFirst() {
            book.value.condemn(
                next.question.number, "settled, but not all that came to APNs is known: \(next.question.code)"
            )
        }
        while let question = soon.popFirst() ?? waiting.popFirst() {
            if let fault = question.fault {
                book.value.condemn(question.number, fault)
            } else {
                book.value.unsettled(question.number)
            }
        }
        open = 0
    }
}

extension Door {
    /// Asks how many messages stand, in one call.
    func listRequest(_ codes: [String]) -> HTTPClientRequest {
        let body = JSONWriter.object { body in
            body.object("filters") {
                $0.member("application", application)
                $0.member("messages_codes", codes)
            }
            body.object("params") { $0.member("with_metrics", true) }
        }
        return HTTPClientRequest(
            method: "POST", url: "\(url)/api/v2/messages:list",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(auth)"], body: body,
            timeoutMilliseconds: Self.timeoutMilliseconds, caFile: caFile)
    }
}
