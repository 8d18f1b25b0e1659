/// One attempt of one segmenter at an audience.
///
/// Batches of different passes are never counted together.
public struct Pass: Codable, Sendable, Hashable {
    /// The segmenter's epoch.
    public var epoch: Int64
    /// The attempt's number in that epoch.
    public var number: Int64

    /// Names a pass.
    public init(epoch: Int64, number: Int64) {
        self.epoch = epoch
        self.number = number
    }

    /// One text for a store's column.
    public var text: String { "\(epoch).\(number)" }
}

/// Up to 500 recipients of one message.
///
/// From: segmenter. To: token-registry. Kept until `taken` or `busy`.
/// An audience that is an activity or a token travels as one last batch without recipients; an audience of nobody
/// as one last batch of none.
public struct Batch: Codable, Sendable, Equatable {
    /// The attempt it belongs to.
    public var pass: Pass
    /// Its place in the pass, from 0.
    public var index: Int
    /// Whether the pass ends with it.
    public var last: Bool
    /// Hardware ids, each at most once in a pass.
    public var recipients: [String]
    /// The message; its payload follows in the frames behind the body.
    public var command: Command

    /// The most recipients one batch has.
    public static let recipientsMax = 500

    /// How much of its receiver's window it uses: its recipients, or one where the registry knows whom it means.
    ///
    /// So a batch for a single activity does not wait as if it were one of a fan-out.
    public var weight: Int { max(1, recipients.count) }

    /// Joins a batch.
    public init(pass: Pass, index: Int, last: Bool, recipients: [String], command: Command) {
        self.pass = pass
        self.index = index
        self.last = last
        self.recipients = recipients
        self.command = command
    }
}
