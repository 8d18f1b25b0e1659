import Contracts
import Testing

@testable import ingest

/// Which state is newer, where the caller does not say so.
@Suite struct `The order of states` {
    /// What may be the last message that a life accepts after the clock was set back.
    enum Last: CaseIterable {
        case nothing
        case pause
        case updateWithTimestamp
    }

    @Test(arguments: Last.allCases)
    func `goes on in the next life after a clock that was set back`(last: Last) throws {
        let bench = try Bench()
        try bench.start()
        try bench.update()
        bench.now.wall -= 3_600_000
        switch last {
        case .nothing: break
        case .pause:
            let bearer = [("authorization", "Bearer k-test")]
            #expect(try bench.call("POST", "/v1/applications/AAAAA-00001/pause", "", bearer).status == 200)
        case .updateWithTimestamp:
            let timestamp = #""event":"update","timestamp":\#(bench.now.wallSeconds)"#
            try bench.update(Bench.update.replacing(#""event":"update""#, with: timestamp))
        }
        try bench.restart()
        try bench.update()
        let seconds = try #require(try bench.drain().commands.last { $0.kind == .update }).order.seconds
        #expect(seconds == Bench.nowSeconds)
    }
}
