/// Devices of one application, one bit each; taken out in the order of their numbers.
struct DeviceSet {
    /// What is taken off a device's number to have its bit.
    private let base: Int64
    private var words: [UInt64] = []
    private var nextWord = 0
    /// How many devices are in it.
    private(set) var count = 0

    init(base: Int64) { self.base = base }

    /// Adds a stretch that lies behind all that were added before.
    mutating func append(_ stretch: DeviceStretch) {
        guard stretch.count > 0 else { return }
        let first = Int(stretch.start - base) / 64
        precondition(first >= words.count, "stretches come in order")
        words += repeatElement(0, count: first - words.count)
        words += stretch.words
        count += stretch.count
    }

    /// Takes out the first devices.
    mutating func take(_ countMax: Int) -> [Int64] {
        var devices: [Int64] = []
        devices.reserveCapacity(min(countMax, count))
        while devices.count < countMax, nextWord < words.count {
            let word = words[nextWord]
            guard word != 0 else {
                nextWord += 1
                continue
            }
            devices.append(base + Int64(nextWord * 64 + word.trailingZeroBitCount))
            words[nextWord] = word & (word - 1)
        }
        count -= devices.count
        return devices
    }
}

/// A stretch of device numbers, with a bit for each device that is meant.
struct DeviceStretch {
    /// How many numbers a stretch has.
    static let width: Int64 = 4_096

    /// Its first number, counted from the application's base a multiple of 64.
    let start: Int64
    private(set) var words: [UInt64]

    /// The number behind its last.
    var end: Int64 { start + DeviceStretch.width }

    /// A stretch in which no device, or every device, is meant.
    init(start: Int64, isFull: Bool = false) {
        self.start = start
        words = Array(repeating: isFull ? .max : 0, count: Int(DeviceStretch.width) / 64)
    }

    /// How many devices are meant.
    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    mutating func insert(_ device: Int64) {
        let offset = Int(device - start)
        words[offset / 64] |= 1 << UInt64(offset % 64)
    }

    /// The devices that are meant, in order.
    var devices: [Int64] {
        var devices: [Int64] = []
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                devices.append(start + Int64(index * 64 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return devices
    }

    mutating func formIntersection(_ other: DeviceStretch) {
        for index in words.indices { words[index] &= other.words[index] }
    }

    mutating func formUnion(_ other: DeviceStretch) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    mutating func subtract(_ other: DeviceStretch) {
        for index in words.indices { words[index] &= ~other.words[index] }
    }
}
