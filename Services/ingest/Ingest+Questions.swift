import Contracts
import Service

extension Ingest {
    /// Asks another service, and lets the caller wait for what becomes of the answer.
    mutating func ask(
        _ service: ServiceName, _ kind: Query.Kind, application: String, for call: HTTPCall, at now: Moment,
        reply: @escaping Questions.Reply
    ) -> Result<Served, Refusal> {
        guard !questions.isFull else {
            return .failure(.busy("too many questions wait", retryAfterSeconds: 1))
        }
        let number = questions.add(call, nowMilliseconds: now.monotonic, reply: reply)
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
    mutating func take(_ answer: Answer) -> [Effect<IngestOutput>] {
        guard let waiting = questions.take(answer.id) else { return ignored("answer") }
        guard let reply = waiting.reply(waiting.call, answer.content) else {
            return ignored("answer") + [.perform(.reply(Ingest.late(waiting.call)))]
        }
        return [.perform(.reply(reply))]
    }

    /// Answers who has waited for too long.
    mutating func lateReplies(at now: Moment) -> [Effect<IngestOutput>] {
        questions.due(nowMilliseconds: now.monotonic).flatMap { call -> [Effect<IngestOutput>] in
            [
                .count(Count("refused", [("door", Door(path: call.path).rawValue), ("member", "late")])),
                .perform(.reply(Ingest.late(call))),
            ]
        }
    }

    private static func late(_ call: HTTPCall) -> HTTPReply {
        Door(path: call.path).refuse(
            call, .busy("the service that knows has not answered in time", retryAfterSeconds: 1))
    }
}
