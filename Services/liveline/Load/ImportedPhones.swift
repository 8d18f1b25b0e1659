import JSON

/// Devices that an import is measured with: each with a push token, a push-to-start token, a user and three tags, and
/// perhaps with activities that its app has started.
struct ImportedPhones {
    /// What hardware ids begin with, and the value of the tag `load`.
    let name: String
    let count: Int
    /// How many activities each has, every one an activity of its own.
    let activitiesEach: Int
    private var next = 0
    private var rest: ArraySlice<UInt8> = []

    init(name: String, count: Int, activitiesEach: Int = 0) {
        self.name = name
        self.count = count
        self.activitiesEach = activitiesEach
    }

    /// The id of an activity; the first has number 0.
    func activity(_ number: Int) -> String { "\(name)-order-\(number + 1)" }

    /// How many are given out.
    var given: Int { next }

    /// The next bytes of their lines; none at the end.
    mutating func read(_ countMax: Int) -> [UInt8] {
        while rest.count < countMax, next < count {
            rest += line(next)
            next += 1
        }
        defer { rest = rest.dropFirst(countMax) }
        return Array(rest.prefix(countMax))
    }

    private func line(_ number: Int) -> [UInt8] {
        JSONWriter.object { phone in
            phone.member("hwid", "\(name)-\(number + 1)")
            phone.member("push_token", ImportedPhones.token(number, digits: 64))
            phone.member("device_type", 1)
            phone.member("os_version", "17.\(number % 6)")
            phone.member("language", ["en", "de", "fr"][number % 3])
            phone.member("user_id", "user-\(number / 2)")
            phone.object("tags") { tags in
                tags.member("load", name)
                tags.member("tier", ["free", "silver", "gold"][number % 3])
                tags.member("city", number % 500)
            }
            phone.array("push_to_start_tokens") { tokens in
                tokens.object { token in
                    token.member("token", ImportedPhones.token(~number, digits: 160))
                    token.member("attributes_type", TrialSetup.attributesType)
                }
            }
            guard activitiesEach > 0 else { return }
            phone.array("activity_tokens") { tokens in
                for place in number * activitiesEach..<(number + 1) * activitiesEach {
                    tokens.object { token in
                        // Of other numbers than those of the phones' own tokens.
                        token.member("token", ImportedPhones.token(place + 1 << 40, digits: 160))
                        token.member("live_activity_id", activity(place))
                    }
                }
            }
        } + [UInt8(ascii: "\n")]
    }

    /// Hex digits that differ from their first one on, as real tokens do.
    private static func token(_ number: Int, digits: Int) -> String {
        var state = UInt64(bitPattern: Int64(number))
        var text: [UInt8] = []
        text.reserveCapacity(digits)
        while text.count < digits {
            // splitmix64
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            mixed ^= mixed >> 31
            for shift in stride(from: UInt64(0), to: 64, by: 4) where text.count < digits {
                let nibble = UInt8(truncatingIfNeeded: mixed >> shift) & 15
                text.append(nibble < 10 ? 0x30 + nibble : 0x57 + nibble)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
