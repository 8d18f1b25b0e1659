import Contracts
import Crypto
import FoundationEssentials
import JSON
import Service
import Web

/// Measures a bulk import: sends devices, waits until all are taken, and counts them.
struct ImportRun {
    let devices: Int
    let door: Door
    let configuration: Configuration
    let loop: CallLoop
    let progress: Progress
    var settleMilliseconds: Int64

    private static let checkMilliseconds: Int64 = 500

    /// Does it.
    ///
    /// - Throws: `CommandFailure` if it cannot be carried through.
    func run() throws(CommandFailure) -> ImportReport {
        let before = ServiceUsage.measure(configuration, loop)
        let diskBefore = diskBytes
        var peaks = before
        var phones = ImportedPhones(name: "import-\(String(randomUInt64() >> 34, radix: 36))", count: devices)
        let began = Stopwatch.microseconds()
        var result: Result<HTTPClientResponse, HTTPClientError>?
        loop.client.send(ImportCall.request(door), body: { phones.read($0) }, completion: { result = $0 })
        while result == nil {
            try loop.run(forMilliseconds: Self.checkMilliseconds) { result != nil }
            peaks.raise(to: ServiceUsage.measure(configuration, loop))
            progress.show("devices sent: \(Numbers.grouped(phones.given)) of \(Numbers.grouped(devices))")
        }
        let answer = try answer(result)
        let answered = Stopwatch.microseconds()
        try waitUntilTaken(&peaks)
        let taken = Stopwatch.microseconds()
        let after = ServiceUsage.measure(configuration, loop)
        peaks.raise(to: after)
        return ImportReport(
            devices: devices, answer: answer, answerSeconds: Double(answered - began) / 1_000_000,
            takenSeconds: Double(taken - began) / 1_000_000, counted: try count(phones.name),
            diskBytes: max(0, diskBytes - diskBefore), before: before, peaks: peaks,
            usage: after.since(before))
    }

    private func answer(
        _ result: Result<HTTPClientResponse, HTTPClientError>?
    ) throws(CommandFailure) -> ImportAnswer {
        switch result {
        case .success(let response):
            let answer = try ImportAnswer(response)
            if let failure = answer.failure { throw failure }
            return answer
        case .failure(let error): throw CommandFailure(.unavailable, "the import: \(error)")
        case nil: throw CommandFailure(.unavailable, "the import: no answer")
        }
    }

    private func waitUntilTaken(_ peaks: inout ServiceUsage) throws(CommandFailure) {
        let end = MonotonicClock.nowMilliseconds() + settleMilliseconds
        while MonotonicClock.nowMilliseconds() < end {
            let state = ServiceState.ask(InstanceName(.ingest), configuration) { try loop.call($0) }
            if state.waiting == 0 { return }
            progress.show("waiting in ingest: \(Numbers.grouped(Int(state.waiting ?? 0)))")
            peaks.raise(to: ServiceUsage.measure(configuration, loop))
            try loop.run(forMilliseconds: Self.checkMilliseconds)
        }
        throw CommandFailure(.temporary, "not all is taken after \(settleMilliseconds / 1_000) s")
    }

    /// How many devices the segmenter knows under the tag of this run; nil if it takes too long to count them.
    private func count(_ name: String) throws(CommandFailure) -> Int? {
        let request = door.request("compileFilter") { filter in
            filter.array("conditions") { $0.element(["load", "EQ", name]) }
            filter.member("operator", "AND")
        }
        for _ in 0..<5 {
            let answer = try loop.call(request)
            if answer.status == 200 { return Self.count(answer) }
            try loop.run(forMilliseconds: Self.checkMilliseconds)
        }
        return nil
    }

    /// What the stores have on disk, as far as they are on this machine.
    private var diskBytes: Int64 {
        let directory = configuration.dataDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            guard let size = attributes?[.size] as? any BinaryInteger else { return sum }
            return sum + Int64(clamping: size)
        }
    }
}
