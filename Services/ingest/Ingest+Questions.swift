import Contracts
import Service
import Store

extension Ingest {
    /// Asks another service, and lets the caller wait for what becomes of the answer.
    mutating func ask(
        _ service: ServiceName, _ kind: Query.Kind, application: String, for call: HTTPCall, at now: Moment,
        withinMilliseconds wait: Int64 = Questions.deadlineMilliseconds,
        late: @escaping Questions.LateReply = Ingest.late, reply: @escaping Questions.Reply
    ) -> Result<Served, Refusal> {
        guard !questions.isFull else {
            return .failure(.busy("too many questions wait", retryAfterSeconds: 1))
        }
        let number = questions.add(
            Questions.Waiting(
                call: call, application: application, dueMilliseconds: now.monotonic + wait, reply: reply,
                late: late))
        let query = Query(id: number, application: application, kind: kind)
        return .success(
            Served(
                reply: nil,
                effects: [
                    .send(.query(query), to: .service(service)),
                    .perform(.suspended(id: call.id, path: call.path)),
                ]))
    }

    /// Answers who has waited for it; an answer that comes too late, or is of another kind, is nobody's.
    ///
    /// What it says of channels is noted all the same.
    mutating func take(_ answer: Answer, at now: Moment, in journal: Journal) throws(StoreError)
        -> [Effect<IngestOutput>]
    {
        if let effects = try takeMissing(answer, at: now, in: journal) { return effects }
        let waiting = questions.take(answer.id)
        var effects: [Effect<IngestOutput>] = []
        var known: [String: KnownChannel] = [:]
        if case .channel(let said) = answer.content {
            effects = try note(said, application: waiting?.application, at: now, in: journal)
            if let waiting {
                known = try knownChannels(said, application: waiting.application, at: now, in: journal)
            }
        }
        guard let waiting else { return effects + ignored("answer") }
        guard let reply = waiting.reply(waiting.call, answer.content, known) else {
            return effects + ignored("answer") + [.perform(.reply(waiting.late(waiting.call)))]
        }
        if let repeatable = waiting.repeatable, reply.status < 300 {
            try journal.keep(reply, to: repeatable, atMilliseconds: now.wall)
        }
        return effects + [.perform(.reply(reply))]
    }

    /// Answers who has waited for too long.
    mutating func lateReplies(at now: Moment) -> [Effect<IngestOutput>] {
        questions.due(nowMilliseconds: now.monotonic).flatMap { waiting -> [Effect<IngestOutput>] in
            [
                .count(
                    Count("refused", [("door", Door(path: waiting.call.path).rawValue), ("member", "late")])),
                .perform(.reply(waiting.late(waiting.call))),
            ]
        }
    }

    @Sendable static func late(_ call: HTTPCall) -> HTTPReply {
        Door(path: call.path).refuse(
            call, .busy("the service that knows has not answered in time", retryAfterSeconds: 1))
    }
}
