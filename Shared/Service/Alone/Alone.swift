import Contracts
import Store
import Telemetry

/// A service that runs alone: each line of input is one step of its core, each effect one line of output.
///
/// There are no neighbours, so that nothing is kept until answered and there is room for everything. What a line has
/// led to is committed before it is written.
final class Alone<C: Core, A: Adapter> where A.External == C.External, A.Output == C.Output {
    /// How many turns the core may ask for at one instant: more would be a mistake of the core.
    static var turnsMax: Int { 100_000 }
    /// How long the adapter may finish what is under way when the input has ended, in milliseconds.
    static var drainMilliseconds: Int64 { 30_000 }

    private let context: ServiceContext
    private let makeCore: (ServiceContext) -> C
    private var core: C
    private var store: C.Storage
    private var adapter: A?
    private var clock: AloneClock
    private let write: ([UInt8]) -> Void
    private let coder = ParcelCoder()
    private var output: [UInt8] = []
    private var lineNumber = 0
    private var result = ExitCode.stopped

    init(
        context: ServiceContext, core: @escaping (ServiceContext) -> C, store: C.Storage, adapter: A?,
        clock: AloneClock, write: @escaping ([UInt8]) -> Void
    ) {
        self.context = context
        self.makeCore = core
        self.core = core(context)
        self.store = store
        self.adapter = adapter
        self.clock = clock
        self.write = write
    }

    /// Reads lines until the input ends.
    ///
    /// - Returns: `.data` if one of them made no sense, `.unavailable` if the store or the input failed.
    func run(input: CInt) -> ExitCode {
        begin()
        var reader = LineReader(input)
        while true {
            wait(input)
            serveAdapter()
            takeTimedTurn()
            if isReadable(input) {
                do {
                    guard let lines = try reader.read() else { break }
                    for line in lines { take(line) }
                } catch {
                    context.logger.error("input", ["problem": "\(error)"])
                    return .unavailable
                }
            }
            flush()
        }
        for line in reader.rest() { take(line) }
        finish()
        return result
    }

    /// Has the core begin its life.
    func begin() {
        attempt { () throws(StoreError) in try self.step(.started) }
        flush()
    }

    private func wait(_ input: CInt) {
        var deadlines = [adapter?.nextDeadlineMilliseconds]
        let now = clock.now
        if !clock.isManual, let turn = core.nextTurnMilliseconds(after: now) {
            deadlines.append(now.monotonic + turn)
        }
        let milliseconds = deadlines.compactMap { $0 }.min().map { $0 - Moment.now().monotonic }
        waitReadable([input] + (adapter?.descriptors ?? []), milliseconds: milliseconds)
    }

    private func takeTimedTurn() {
        guard !clock.isManual, core.nextTurnMilliseconds(after: clock.now) == 0 else { return }
        turns()
    }

    private func serveAdapter() {
        let events = adapter?.process(nowMilliseconds: Moment.now().monotonic) ?? []
        for event in events { input(.external(event)) }
    }

    private func finish() {
        adapter?.drain()
        let end = Moment.now().monotonic + Alone.drainMilliseconds
        while let waiting = adapter, !waiting.drained, Moment.now().monotonic < end {
            let next = (waiting.nextDeadlineMilliseconds ?? end) - Moment.now().monotonic
            waitReadable(waiting.descriptors, milliseconds: min(next, 1_000))
            serveAdapter()
            flush()
        }
        flush()
    }

    private func flush() {
        guard !output.isEmpty else { return }
        write(output)
        output = []
    }

    // MARK: Lines

    /// Takes one line; what is wrong with it goes to the log, and the next one is taken all the same.
    func take(_ line: LineReader.Line) {
        lineNumber += 1
        do {
            let bytes = try line.get()
            guard bytes.contains(where: { $0 > 0x20 }) else { return }
            switch try InputLine<C.External>(bytes, for: C.service, coder: coder) {
            case .message(let message, let sender): input(.message(message, from: sender))
            case .external(let event): input(.external(event))
            case .advance(let milliseconds): try advance(milliseconds)
            }
        } catch {
            result = .data
            context.logger.error("bad-line", ["line": lineNumber, "problem": error.description])
        }
        flush()
    }

    private func input(_ input: Input<C.External>) {
        attempt { () throws(StoreError) in
            try self.step(input)
            try self.step(.turn(.boundless()))
        }
        turns()
    }

    /// Gives the core the turns that it wants at this instant.
    private func turns() {
        for _ in 0..<Alone.turnsMax {
            guard core.nextTurnMilliseconds(after: clock.now) == 0 else { return }
            attempt { () throws(StoreError) in try self.step(.turn(.boundless())) }
        }
        context.logger.error("too-many-turns", ["turns": Alone.turnsMax])
        result = .software
    }

    /// Moves the manual clock, with a turn at each instant at which the core wants one.
    private func advance(_ milliseconds: Int64) throws(LineError) {
        guard clock.isManual else { throw LineError("advance needs --clock manual") }
        var left = milliseconds
        while left > 0 {
            let due = core.nextTurnMilliseconds(after: clock.now) ?? left
            let stride = min(left, max(1, due))
            clock.advance(byMilliseconds: stride)
            left -= stride
            turns()
        }
    }

    // MARK: Transactions

    private var pending: [Effect<C.Output>] = []

    private func step(_ input: Input<C.External>) throws(StoreError) {
        pending += try core.step(input, at: clock.now, in: &store)
    }

    private func attempt(_ body: () throws(StoreError) -> Void) {
        pending = []
        do {
            try store.begin()
            try body()
            try store.commit()
            for effect in pending { emit(effect) }
        } catch {
            result = .unavailable
            context.logger.error("store-failed", ["problem": "\(error)"])
            try? store.rollback()
            core = makeCore(context)
        }
        pending = []
    }

    private func emit(_ effect: Effect<C.Output>) {
        do {
            switch effect {
            case .send(let message, let route):
                output += try OutputLine.message(message, to: route, coder: coder)
            case .perform(let request): try perform(request)
            case .log(let line): context.logger.write(line)
            case .count: break
            }
        } catch {
            result = .software
            context.logger.error("not-written", ["problem": "\(error)"])
        }
    }

    private func perform(_ request: C.Output) throws {
        if adapter != nil {
            adapter?.perform([request], nowMilliseconds: Moment.now().monotonic)
        } else if let line = request as? any LineWritable {
            output += try OutputLine.output(line)
        }
    }
}
