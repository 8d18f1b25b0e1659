/// How pushes are paced and how long things live; an application may set its own.
public struct DeliverySettings: Sendable, Equatable {
    /// How long a participant waits between pushes, in seconds; 15.
    public var intervalSeconds: Int64 = 15
    /// The same for an application with frequent pushes, in seconds; 5.
    public var frequentIntervalSeconds: Int64 = 5
    /// How many pushes may go at once after a rest; 1.
    public var burst = 1
    /// How many starts a device takes at once; 10 (seen on phones as their own budget).
    public var startBurst = 10
    /// How long until a device takes one more start, in seconds; 360.
    public var startRefillSeconds: Int64 = 360
    /// How long an update waits for an activity's token, in seconds; 600.
    public var tokenWaitSeconds: Int64 = 600
    /// How long an activity takes updates, in seconds; 28,800, as iOS has it.
    public var activeSeconds: Int64 = 28_800
    /// How long an activity is remembered, in seconds; 43,200, as iOS has it.
    public var removeSeconds: Int64 = 43_200
    /// How long after its acceptance a start is worth sending, in seconds; 600.
    public var startExpirationSeconds: Int64 = 600
    /// The same for an update, in seconds; 3,600.
    public var updateExpirationSeconds: Int64 = 3_600
    /// The same for an end, in seconds; 14,400.
    public var endExpirationSeconds: Int64 = 14_400
    /// How long APNs may take to answer, in seconds; 20.
    public var answerDeadlineSeconds: Int64 = 20
    /// How long a push that was handed over may stay unsent, in seconds; 30.
    public var sendBeforeSeconds: Int64 = 30

    /// The defaults.
    public init() {}

    /// How long a participant waits between pushes, in milliseconds.
    public func intervalMilliseconds(frequent: Bool) -> Int64 {
        (frequent ? frequentIntervalSeconds : intervalSeconds) * 1000
    }
}
