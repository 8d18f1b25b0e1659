import Contracts
import Testing

@Suite struct ParcelCodingTests {
    let coder = ParcelCoder()

    @Test func `raw members come out byte for byte`() throws {
        let frames = try coder.frames(parcel([.command(start)]))
        #expect(Array(frames[2...]) == [payload.contentState, payload.attributes, payload.alert])
        #expect(try coder.parcel(frames).messages[0].payload == payload)
    }

    @Test func `an envelope may name the life that it is for`() throws {
        var sent = parcel([.command(start)])
        sent.envelope.to = 7
        #expect(try coder.parcel(coder.frames(sent)) == sent)
    }

    @Test func `several messages share a parcel, each with its own raw members`() throws {
        let other = update(.activity)
        let messages: [Message] = [.command(start), .command(other)]
        let frames = try coder.frames(parcel(messages))
        #expect(frames.count == 8)
        #expect(try coder.parcel(frames).messages == messages)
    }

    @Test(
        arguments: [
            ([], "fewer than two frames"),
            ([[]], "fewer than two frames"),
            ([[0xFF], []], "the first frame is no envelope"),
            ([text("{}"), text("[]")], "the first frame is no envelope"),
            ([text(#"{"v":2}"#), text("[]")], "version 2 is not read here"),
            ([text(#"{"v":1}"#), text("[]")], "the envelope's type or sender is unknown"),
            ([envelope("telegram"), text("[{}]")], "the envelope's type or sender is unknown"),
            ([envelope("noted"), text("[{}]")], "the bodies of noted do not decode"),
            ([envelope("noted"), text("[]")], "noted has 2 frames"),
            ([envelope("noted"), text(#"[{"keys":[]}]"#), []], "noted has 3 frames"),
            ([envelope("noted"), text(#"[{"keys":["push:1"]}]"#)], "the bodies of noted do not decode"),
        ] as [([[UInt8]], String)])
    func `what is no parcel is refused with its size and without its content`(
        frames: [[UInt8]], problem: String
    ) throws {
        let error = try #require(throws: ParcelError.self) { _ = try coder.parcel(frames) }
        #expect(error.problem == problem)
        #expect(error.description == "\(problem) (\(frames.reduce(0) { $0 + $1.count }) bytes)")
    }

    @Test func `a payload with a frame missing is refused`() throws {
        let frames = try coder.frames(parcel([.command(start)]))
        #expect(throws: ParcelError.self) { _ = try coder.parcel(frames.dropLast()) }
        #expect(throws: ParcelError.self) { _ = try coder.parcel(frames + [[]]) }
    }

    @Test func `a hundred thousand levels are refused`() {
        for text in ["[", #"{"a":"#, #"[{"not":"#] {
            let deep = Array(String(repeating: text, count: 100_000).utf8)
            #expect(throws: ParcelError.self) { _ = try coder.parcel([deep, deep]) }
            #expect(throws: ParcelError.self) {
                _ = try coder.parcel([envelope("command"), deep, [], [], []])
            }
        }
    }

    @Test func `a filter of many levels is refused rather than followed for ever`() throws {
        let open = String(repeating: #"{"all":["#, count: 5_000)
        let close = String(repeating: "]}", count: 5_000)
        let body = #"[{"id":1,"application":"A","kind":{"audience":{"filter":\#(open)\#(close)}}}]"#
        #expect(throws: ParcelError.self) { _ = try coder.parcel([envelope("query"), text(body)]) }
    }

    @Test(arguments: samples.map(\.name))
    func `what is cut off is refused`(name: String) throws {
        let sample = try #require(samples.first { $0.name == name })
        let frames = try coder.frames(parcel(sample.messages))
        for index in 0..<2 {
            for length in 0..<frames[index].count {
                var cut = frames
                cut[index] = Array(frames[index].prefix(length))
                #expect(throws: ParcelError.self, "frame \(index), \(length) bytes") {
                    _ = try coder.parcel(cut)
                }
            }
        }
    }

    @Test(arguments: samples.map(\.name))
    func `what is garbled is read or refused, and never a trap`(name: String) throws {
        let sample = try #require(samples.first { $0.name == name })
        let frames = try coder.frames(parcel(sample.messages))
        var random = SplitMix(state: name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        for _ in 0..<2_000 {
            var garbled = frames
            let index = Int.random(in: 0..<2, using: &random)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<garbled[index].count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: garbled[index][place] = UInt8.random(in: 0...255, using: &random)
                case 1: garbled[index].insert(UInt8.random(in: 0x20...0x7E, using: &random), at: place)
                case 2 where garbled[index].count > 1: garbled[index].remove(at: place)
                default: garbled[index].append(contentsOf: garbled[index][place...])
                }
            }
            // Numbers at the edge of their types find overflows in whoever reads them.
            guard let read = try? coder.parcel(garbled) else { continue }
            for message in read.messages {
                _ = (message.answeredKeys, message.window?.count, message.account, message.lane)
                _ = message.keptKeys(receiver: .tokenRegistry)
            }
        }
    }
}

private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

private func envelope(_ type: String) -> [UInt8] {
    text(
        #"{"v":1,"type":"\#(type)","id":1,"from":{"instance":"ingest.1","epoch":1},"#
            + #""sentAtMilliseconds":1700000000000}"#)
}
