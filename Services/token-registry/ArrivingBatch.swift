import Contracts

/// A batch whose recipients are being taken in, a part in each turn.
///
/// It is answered with its last recipient, so that a crash loses nothing: its segmenter sends it again.
struct ArrivingBatch {
    let batch: Batch
    let sender: Sender
    /// How many recipients have rows.
    var taken = 0

    init(batch: Batch, sender: Sender) {
        self.batch = batch
        self.sender = sender
    }

    /// Whether another one is this one, sent again.
    func isSame(as other: ArrivingBatch) -> Bool {
        batch.command.sequence == other.batch.command.sequence && batch.pass == other.batch.pass
            && batch.index == other.batch.index && sender == other.sender
    }
}
