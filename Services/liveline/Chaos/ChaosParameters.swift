/// What a chaos run is to do.
struct ChaosParameters: Sendable, Equatable {
    /// How long things break, seconds.
    var seconds: Int64 = 60
    /// The same seed plans the same kills, stops, restarts, faults and token changes.
    var seed: UInt64 = 1
    /// Calls a second.
    var rate: Int64 = 100
    /// Activities that run at a time.
    var activities = 300
    /// Pushes of a participant are this far apart, seconds.
    var intervalSeconds: Int64 = 5
    /// From one kill to the next, ms; in each five of them every service is killed once.
    var killMilliseconds: Int64 = 5_500
    /// From one service that is held to the next, ms.
    var holdMilliseconds: Int64 = 11_000
    /// From one service that is asked to stop to the next, ms.
    var restartMilliseconds: Int64 = 23_000
    /// From one fault of APNs to the next, ms.
    var faultMilliseconds: Int64 = 4_000
    /// From one changed token to the next, ms.
    var tokenMilliseconds: Int64 = 400
    /// How long everything may take to come to rest afterwards, seconds.
    var settleSeconds: Int64 = 300

    /// Every so many activities one has tokens that change, and every so many one is on several phones.
    static let (strayingStride, sharedStride, sharedPhones) = (5, 7, 3)

    /// How many phones the activities of a slot are on: an activity whose tokens change has one.
    static func phones(ofSlot slot: Int) -> Int {
        !isStraying(slot) && slot % sharedStride == 0 ? sharedPhones : 1
    }

    /// Whether the tokens of a slot's activities change.
    static func isStraying(_ slot: Int) -> Bool { slot % strayingStride == 1 }

    /// Whether a slot's activity is bound to a broadcast channel; it never ends, since the next one on the channel
    /// would hear what is still on its way for the former.
    static func isBroadcast(_ slot: Int) -> Bool { isSpecial(slot) && slot / sharedStride % 3 == 1 }

    /// Whether a slot's activities start by a filter that finds its phones.
    static func isFiltered(_ slot: Int) -> Bool { isSpecial(slot) && slot / sharedStride % 3 == 2 }

    /// Only some slots have a filter or a channel, so that making them takes no time.
    private static func isSpecial(_ slot: Int) -> Bool {
        phones(ofSlot: slot) > 1 && slot < specialSlots
    }

    private static let specialSlots = 500

    /// How many phones there are.
    var phoneCount: Int { (0..<activities).reduce(0) { $0 + Self.phones(ofSlot: $1) } }
}

/// A small random source: the same seed gives the same numbers everywhere (splitmix64).
struct ChaosRandom: RandomNumberGenerator {
    private var state: UInt64

    /// Begins a stream of its own for each purpose.
    init(seed: UInt64, purpose: UInt64) {
        state = seed &* 0xD134_2543_DE82_EF95 &+ purpose
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Whether something happens that happens once in so many times.
    mutating func happens(onceIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

/// Which message a content state is of: its integer says so.
struct ChaosNumber: Hashable, Sendable {
    /// The activity, counted from 0.
    var serial: Int
    /// The message among those of the activity; its start is 0.
    var step: Int

    private static let stepBits = 20

    init(serial: Int, step: Int) { (self.serial, self.step) = (serial, step) }

    /// Takes the integer apart.
    init(packed: Int) { self.init(serial: packed >> Self.stepBits, step: packed & (1 << Self.stepBits - 1)) }

    /// The integer.
    var packed: Int { serial << Self.stepBits | step }
}
