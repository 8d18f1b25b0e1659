import Service
import Web

/// The bulk imports that go on at the HTTP server: cuts each into pieces for the core, one at a time.
///
/// What has arrived of an import and is not committed stays small: no more is read while a piece is with the core.
final class Uploads {
    private struct Upload {
        let call: HTTPCall
        let upload: HTTPUpload
        var cutter: LineCutter
        var tally = ImportTally()
        /// The lines that the core has, or had no room for.
        var lines: [ImportPiece.Line]?
        var isWithCore = false
        /// Since when there is no room; nil while there is.
        var waitsSinceMilliseconds: Int64?
        var notBeforeMilliseconds = Int64.min
        /// Nothing may be answered 200 of which the core has not seen whose it is.
        var isKnown = false
    }

    /// How soon a piece that found no room is tried again, in milliseconds.
    static let retryMilliseconds: Int64 = 5

    private let limits: IngestLimits
    private var uploads: [Int64: Upload] = [:]
    private var lastServed: Int64 = 0
    private var isStopping = false

    init(_ limits: IngestLimits = IngestLimits()) { self.limits = limits }

    var isEmpty: Bool { uploads.isEmpty }

    /// Takes a request, under a number, if it is an import.
    func take(_ upload: HTTPUpload, id: Int64) -> Bool {
        guard Ingest.isImport(method: upload.request.method, path: upload.request.segments) else {
            return false
        }
        let call = HTTPCall(id: id, upload.request)
        guard uploads.count < limits.importsMax, !isStopping else {
            let reply = OwnAnswer.refusal(call, .busy("too many imports go on"))
            upload.exchange.respond(reply)
            return true
        }
        uploads[id] = Upload(
            call: call, upload: upload, cutter: LineCutter(lineBytesMax: limits.importLineBytesMax))
        return true
    }

    /// The next piece of one of the imports, which take turns.
    func next(nowMilliseconds now: Int64) -> ImportPiece? {
        let ids = uploads.keys.sorted()
        for id in ids.filter({ $0 > lastServed }) + ids.filter({ $0 <= lastServed }) {
            guard var upload = uploads[id] else { continue }
            let piece = next(&upload, now)
            uploads[id] = upload
            if upload.upload.state == .cut || upload.upload.exchange.isAnswered { uploads[id] = nil }
            guard let piece, uploads[id] != nil else { continue }
            lastServed = id
            return piece
        }
        return nil
    }

    private func next(_ upload: inout Upload, _ now: Int64) -> ImportPiece? {
        guard !upload.isWithCore, upload.upload.state != .cut else { return nil }
        if isStopping {
            stop(upload, .busy("stopping", retryAfterSeconds: 1))
            return nil
        }
        guard now >= upload.notBeforeMilliseconds else { return nil }
        let lines = upload.lines ?? cut(&upload)
        if lines.isEmpty, upload.isKnown {
            if isOver(upload) { upload.upload.exchange.respond(upload.tally.reply(upload.call)) }
            return nil
        }
        guard !lines.isEmpty || isOver(upload) else { return nil }
        upload.lines = lines
        upload.isWithCore = true
        return ImportPiece(call: upload.call, lines: lines)
    }

    private func cut(_ upload: inout Upload) -> [ImportPiece.Line] {
        let lines = upload.cutter.lines(limits.importLinesMax, isOver: false)
        guard lines.count < limits.importLinesMax else { return lines }
        upload.cutter.append(upload.upload.take())
        return lines
            + upload.cutter.lines(
                limits.importLinesMax - lines.count, isOver: upload.upload.state == .complete)
    }

    private func isOver(_ upload: Upload) -> Bool {
        upload.upload.state == .complete && upload.upload.heldBytes == 0 && upload.cutter.heldBytes == 0
    }

    private func stop(_ upload: Upload, _ refusal: Refusal) {
        upload.upload.exchange.respond(upload.tally.reply(upload.call, stopped: refusal))
    }

    /// Takes what became of a piece.
    func took(_ id: Int64, _ outcome: ImportOutcome, nowMilliseconds now: Int64) {
        guard var upload = uploads[id] else { return }
        upload.isWithCore = false
        switch outcome {
        case .committed(let tally):
            upload.tally.add(tally, faultsMax: limits.importFaultsMax)
            upload.lines = nil
            upload.isKnown = true
            upload.waitsSinceMilliseconds = nil
        case .waits:
            let since = upload.waitsSinceMilliseconds ?? now
            upload.waitsSinceMilliseconds = since
            upload.notBeforeMilliseconds = now + Uploads.retryMilliseconds
            if now - since >= limits.importWaitMilliseconds {
                stop(upload, .busy("too many registrations are waiting"))
            }
        case .stopped(let refusal): stop(upload, refusal)
        }
        uploads[id] = upload.upload.exchange.isAnswered ? nil : upload
    }

    /// Ends each import at the next piece.
    func stop() { isStopping = true }

    /// When something is to be done although nothing arrives, on the monotonic clock.
    var nextMilliseconds: Int64? {
        uploads.values.filter { !$0.isWithCore }.compactMap { upload -> Int64? in
            if upload.lines != nil { return upload.notBeforeMilliseconds }
            let isReady =
                upload.cutter.mayHaveLine || upload.upload.heldBytes > 0 || upload.upload.state != .arriving
            return isReady || isStopping ? 0 : nil
        }.min()
    }
}

extension HTTPExchange {
    /// Gives an answer of the core.
    func respond(_ reply: HTTPReply) {
        respond(
            status: reply.status,
            headers: HTTPHeaders(reply.headers.map { HTTPField(name: $0.name, value: $0.value) }),
            body: reply.body)
    }
}
