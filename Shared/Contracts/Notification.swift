/// What a push asks of the phone.
public enum ActivityEvent: String, Codable, Sendable, CaseIterable {
    case start = "start"
    case update = "update"
    case end = "end"
}

/// Which of two states is newer: the caller's seconds, then the journal's sequence.
public struct Order: Codable, Sendable, Hashable, Comparable {
    /// The caller's `timestamp`, else the second of acceptance; since 1970.
    public var seconds: Int64
    /// The journal's sequence.
    public var sequence: Int64

    /// Joins the two keys.
    public init(seconds: Int64, sequence: Int64) {
        self.seconds = seconds
        self.sequence = sequence
    }

    /// Orders the older before the newer.
    public static func < (left: Order, right: Order) -> Bool {
        (left.seconds, left.sequence) < (right.seconds, right.sequence)
    }
}

/// The small members of a Live Activity push; the large ones travel as raw bytes in a `Payload`.
public struct Notification: Codable, Sendable, Hashable {
    /// Start, update or end.
    public var event: ActivityEvent
    /// The Swift type of the attributes; on a start only.
    public var attributesType: String?
    /// The caller's `timestamp`, seconds since 1970.
    public var timestampSeconds: Int64?
    /// When the activity counts as stale, seconds since 1970.
    public var staleDateSeconds: Int64?
    /// When an ended activity leaves the Lock Screen, seconds since 1970.
    public var dismissalDateSeconds: Int64?
    /// The number as it was written.
    public var relevanceScore: String?
    /// The value of `input-push-token` as it was written, `1` unless the caller gave one; on a start only.
    public var inputPushToken: String?
    /// The base64 id of a broadcast channel; on a start only.
    public var inputPushChannel: String?
    /// `apns-priority`: 5 or 10.
    public var priority: Int
    /// `apns-expiration`, seconds since 1970, fixed at acceptance; 0 is one attempt.
    public var expirationSeconds: Int64
    /// The caller's `apns-collapse-id`, at most 64 bytes.
    public var collapseID: String?
    /// The caller's `apns-id`, a lower-case UUID; for an audience of one.
    public var apnsID: String?
    /// What a phone that cannot be started gets as an ordinary alert.
    public var fallback: Fallback?

    /// The words of an ordinary alert.
    public struct Fallback: Codable, Sendable, Hashable {
        /// Its title.
        public var title: String?
        /// Its body.
        public var body: String

        /// Joins title and body.
        public init(title: String?, body: String) {
            self.title = title
            self.body = body
        }
    }

    /// A notification with nothing but what each has.
    public init(event: ActivityEvent, priority: Int = 10, expirationSeconds: Int64) {
        self.event = event
        self.priority = priority
        self.expirationSeconds = expirationSeconds
    }
}
