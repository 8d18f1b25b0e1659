/// One modelled phone, kept small because there may be a million.
///
/// What phones created together have in common stands in their `PhoneGroup`.
struct Phone: Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let offline = Flags(rawValue: 1)
        static let uninstalled = Flags(rawValue: 2)
        /// The tokens are answered with `ExpiredToken`.
        static let expired = Flags(rawValue: 4)
        /// A registration of the device or of its start tokens is on its way.
        static let registeringDevice = Flags(rawValue: 8)
        static let registeringStart = Flags(rawValue: 16)
        /// Every token names the app no longer: the app was removed or its tokens expired.
        static let gone: Flags = [.uninstalled, .expired]
    }

    let group: UInt32
    var flags: Flags = []
    var deviceGeneration: UInt32 = 0
    var startGeneration: UInt32 = 0
    /// When its tokens last changed or died, in UNIX milliseconds.
    var changedAtMilliseconds: Int64 = 0
    /// Until when the token before the present one is still taken.
    var formerTokensUntilMilliseconds: Int64 = 0
    var starts = Allowance()
    var requests = SecondCounter()
    /// The slot of its newest activity; the others follow in a chain.
    var newestActivity: Int32 = -1
    var pushes: UInt32 = 0
    var duplicates: UInt32 = 0
    /// The last entry of its history.
    var lastEntry: Int64 = -1
}

/// Phones that were created together.
///
/// A class, so that looking at one costs a single reference on the way of every push.
final class PhoneGroup: Sendable {
    /// What they have in common, as given when they were created.
    struct Traits: Sendable {
        /// The hardware id is this and the phone's number, or this alone for a single phone.
        var prefix: String
        var application: String
        /// The app's bundle id; nil takes pushes for any.
        var bundleID: String?
        var environment: APNsEnvironment = .production
        var system = SystemVersion(major: 18, minor: 0, text: "18.0")
        /// JSON text of the tags, with `{n}` where the phone's number goes.
        var tags: [UInt8]?
        /// The app's attributes types, each with a start token; empty for one token that is good for any type.
        var attributesTypes: [String] = []
        /// Whether all attributes types have the same start token.
        var sharesStartToken = false
        /// Where the app registers, as `http://host:port`; nil when it registers nowhere.
        var ingest: String?
        /// What it proves itself with there.
        var deviceToken: String?
        /// How long after a start the app has its update token, once the person allowed it.
        var tokenDelayMilliseconds = 0
        /// Whether the person allows activities that were started by a push.
        var allowsActivities = true
        /// Members without which the app cannot decode a content state.
        var stateMembers: [String] = []
    }

    let traits: Traits
    let isSingle: Bool
    let firstNumber: Int
    let firstPhone: Int
    let count: Int

    init(_ traits: Traits, isSingle: Bool, firstNumber: Int, firstPhone: Int, count: Int) {
        self.traits = traits
        self.isSingle = isSingle
        self.firstNumber = firstNumber
        self.firstPhone = firstPhone
        self.count = count
    }

    /// Numbers of its phones.
    var numbers: Range<Int> { firstNumber..<firstNumber + count }

    /// The hardware id of a phone in the group.
    func hardwareID(of phone: Int) -> String {
        isSingle ? traits.prefix : traits.prefix + String(number(of: phone))
    }

    /// The number of a phone in the group.
    func number(of phone: Int) -> Int { firstNumber + phone - firstPhone }

    /// The phone with this hardware id, if it is in the group.
    func phone(hardwareID: String) -> Int? {
        if isSingle { return hardwareID == traits.prefix ? firstPhone : nil }
        guard hardwareID.hasPrefix(traits.prefix) else { return nil }
        let digits = hardwareID.dropFirst(traits.prefix.count)
        guard let number = Int(digits), String(number) == digits, numbers.contains(number) else { return nil }
        return firstPhone + number - firstNumber
    }
}

/// A version of iOS.
struct SystemVersion: Sendable, Equatable {
    var major: Int
    var minor: Int
    var text: String

    /// Whether a push can start an activity: since iOS 17.2 (Apple, ActivityKit).
    var hasStartTokens: Bool { major > 17 || (major == 17 && minor >= 2) }

    /// Whether a start asks for its token or channel: since iOS 18.
    var asksForToken: Bool { major >= 18 }
}

extension SystemVersion {
    /// Reads `18`, `17.2` or `17.2.1`.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt16($0) }
        guard (1...3).contains(parts.count), let major = parts.first ?? nil, !parts.contains(nil) else {
            return nil
        }
        let minor = parts.count > 1 ? parts[1] ?? 0 : 0
        self.init(major: Int(major), minor: Int(minor), text: text)
    }
}
