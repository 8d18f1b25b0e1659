import JSON

/// A part of a bulk import, as the adapter hands it to the core: one after the other, each once the one before it is
/// committed.
struct ImportPiece: Sendable, Equatable {
    /// The request, without its body.
    var call: HTTPCall
    /// Some lines of its body, in their order.
    var lines: [Line]

    /// One line.
    struct Line: Sendable, Equatable {
        /// Its number, from 1 on.
        var number: Int
        /// What stands in it; nil for a line that was too long to be held.
        var text: [UInt8]?
    }
}

/// How far a bulk import is.
struct ImportTally: Sendable, Equatable {
    /// The number of the last line that was dealt with.
    var lines = 0
    /// How many devices are accepted.
    var accepted = 0
    /// How many lines are refused.
    var refused = 0
    /// What is wrong with the first of them.
    var faults: [Fault] = []

    /// What is wrong with a line.
    struct Fault: Sendable, Equatable {
        var line: Int
        /// The path of the member; empty for the line as a whole.
        var member: String
        var message: String
    }

    /// Notes why a line is refused.
    mutating func refuse(_ line: Int, _ refusal: Refusal, faultsMax: Int) {
        refused += 1
        for violation in refusal.violations where faults.count < faultsMax {
            faults.append(Fault(line: line, member: violation.field, message: violation.problem))
        }
    }

    /// Adds what became of a later piece.
    mutating func add(_ piece: ImportTally, faultsMax: Int) {
        lines = max(lines, piece.lines)
        accepted += piece.accepted
        refused += piece.refused
        faults += piece.faults.prefix(max(0, faultsMax - faults.count))
    }

    /// The answer to an import that came to its end.
    func reply(_ call: HTTPCall) -> HTTPReply { HTTPReply(call, 200, json: json(error: nil)) }

    /// The answer to one that was stopped: with how far it is, so that its caller can go on from there.
    func reply(_ call: HTTPCall, stopped refusal: Refusal) -> HTTPReply {
        var reply = OwnAnswer.refusal(call, refusal)
        reply.body = json(error: refusal.text)
        return reply
    }

    private func json(error: String?) -> [UInt8] {
        JSONWriter.object { answer in
            if let error { answer.member("error", error) }
            answer.member("accepted", accepted)
            answer.member("refused", refused)
            answer.member("lines", lines)
            answer.array("errors") { errors in
                for fault in faults {
                    errors.object { error in
                        error.member("line", fault.line)
                        error.member("member", fault.member)
                        error.member("message", fault.message)
                    }
                }
            }
        }
    }
}

/// What became of a piece of an import.
enum ImportOutcome: Sendable, Equatable {
    /// It is committed as far as the tally says.
    case committed(ImportTally)
    /// There is no room for it now: it is to come again.
    case waits
    /// The whole import is refused or stopped, with nothing of this piece.
    case stopped(Refusal)
}
