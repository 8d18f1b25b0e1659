import Testing

@testable import segmenter

@Suite struct `Sets of devices` {
    private let base = DeviceNumber.base(ofApplication: 3)

    private func stretch(_ start: Int64, _ devices: [Int64]) -> DeviceStretch {
        var stretch = DeviceStretch(start: base + start)
        for device in devices { stretch.insert(base + device) }
        return stretch
    }

    @Test func `devices are taken out once, in order, also while others are added`() {
        var set = DeviceSet(base: base)
        set.append(stretch(0, [1, 63, 64, 4_095]))
        #expect(set.take(3) == [1, 63, 64].map { base + $0 })
        set.append(stretch(1_000_000 & ~63, [1_000_001]))
        #expect(set.count == 2)
        #expect(set.take(9) == [4_095, 1_000_001].map { base + $0 })
        #expect(set.take(9).isEmpty && set.count == 0)
        set.append(stretch(1_016_384, [1_016_384]))
        #expect(set.take(9) == [base + 1_016_384])
    }

    @Test func `stretches are joined bit by bit`() {
        var both = stretch(64, [64, 100, 200])
        both.formIntersection(stretch(64, [100, 200, 300]))
        #expect(both.devices == [100, 200].map { base + $0 })
        both.formUnion(stretch(64, [4_159]))
        #expect(both.devices == [100, 200, 4_159].map { base + $0 })
        both.subtract(stretch(64, [200]))
        #expect(both.count == 2)
        both.formIntersection(DeviceStretch(start: base + 64, isFull: true))
        #expect(both.devices == [100, 4_159].map { base + $0 })
    }

    @Test func `the devices of an application stand together`() {
        #expect(DeviceNumber.application(ofDevice: base + 1) == 3)
        #expect(DeviceNumber.application(ofDevice: DeviceNumber.base(ofApplication: 4) - 1) == 3)
    }
}
