import Contracts
import Service
import Store

/// The questions how many devices a filter matches, answered one after the other, a little at each turn.
struct Questions {
    /// How many may wait.
    static let waitingMax = 256
    /// How long who asks waits for an answer, in milliseconds.
    static let patienceMilliseconds: Int64 = 2_000

    private struct Question {
        var id: Int64
        var application: String
        var filter: Filter
        var asker: InstanceName
        var askedAt: Moment
    }

    private var waiting: ArraySlice<Question> = []
    private var reading: AudienceReading?

    var isEmpty: Bool { waiting.isEmpty }

    /// Takes a question in.
    ///
    /// - Returns: whether there was room for it.
    mutating func ask(_ query: Query, _ filter: Filter, from asker: InstanceName, at now: Moment) -> Bool {
        guard waiting.count < Questions.waitingMax else { return false }
        waiting.append(
            Question(
                id: query.id, application: query.application, filter: filter, asker: asker, askedAt: now))
        return true
    }

    /// Reads on.
    ///
    /// - Returns: the answer, if one is found.
    mutating func read(
        rowsMax: Int, at now: Moment, in store: Profiles
    ) throws(StoreError) -> Effect<Never>? {
        guard let question = waiting.first else { return nil }
        guard now.monotonic - question.askedAt.monotonic <= Questions.patienceMilliseconds else {
            try next(in: store)
            return nil
        }
        if reading == nil {
            reading = try AudienceReading(
                question.filter, application: question.application, joinedMax: .max,
                nowMilliseconds: question.askedAt.wall, in: store)
        }
        _ = try reading?.advance(rowsMax: rowsMax)
        guard let reading, reading.isComplete else { return nil }
        let answer = Answer(id: question.id, content: .count(devices: reading.foundCount))
        try next(in: store)
        return .send(.answer(answer), to: .instance(question.asker))
    }

    private mutating func next(in store: Profiles) throws(StoreError) {
        try reading?.end(in: store)
        reading = nil
        waiting.removeFirst()
    }
}
