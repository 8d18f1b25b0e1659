import Contracts
import Foundation
import Store

@testable import ingest
@testable import segmenter

/// The filter language: a fault stands within the text, a filter means the same when it is printed and read again or
/// sent to another service, and SQLite takes the query that it becomes.
struct FilterTarget: FuzzTarget {
    private static let application = "AAAAA-00001"
    private let profiles: Profiles

    init() throws { profiles = try Profiles(.memory) }

    func feed(_ input: [UInt8]) throws {
        let text = String(decoding: input, as: UTF8.self)
        do {
            let filter = try FilterExpression.parse(text, application: FilterTarget.application)
            try check(filter)
        } catch let fault as FilterFault {
            hold((0...text.utf8.count).contains(fault.offset), "\(fault.text), of \(text.utf8.count) bytes")
        }
    }

    private func check(_ filter: Filter) throws {
        let printed = filter.expression(application: FilterTarget.application)
        do {
            let again = try FilterExpression.parse(printed, application: FilterTarget.application)
            hold(again == filter, "printed as \(printed) it means something else")
        } catch {
            // Parentheses and longer spellings count too.
            hold(
                printed.utf8.count > FilterLimits.bytesMax || error.problem.contains("parentheses are open"),
                "printed as \(printed) it is refused: \(error.text)")
        }
        let sent = try JSONEncoder().encode(filter)
        hold(try JSONDecoder().decode(Filter.self, from: sent) == filter, "sent on it means something else")
        hold(try profiles.count(matching: filter, application: FilterTarget.application) == 0, "devices")
    }
}
