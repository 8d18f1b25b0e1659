/// Registrations of one application that were accepted together, as a bulk import brings them.
///
/// From: ingest. To: segmenter and token-registry, to each what is for it. Kept until `taken` as a whole, under the
/// group's sequence; the receiver takes its entries one after the other, in one commit. It counts in the window as
/// many registrations as it has entries.
public struct RegistrationGroup: Codable, Sendable, Equatable {
    /// The journal's sequence that names the group: that of the first registration accepted in it.
    public var sequence: Int64
    /// The application's code.
    public var application: String
    /// When the door accepted it, in milliseconds since 1970.
    public var acceptedAtMilliseconds: Int64
    /// What is told, in the order in which it is to be taken.
    public var entries: [Entry]

    /// Joins a group.
    public init(sequence: Int64, application: String, acceptedAtMilliseconds: Int64, entries: [Entry]) {
        self.sequence = sequence
        self.application = application
        self.acceptedAtMilliseconds = acceptedAtMilliseconds
        self.entries = entries
    }

    /// One registration of the group.
    public struct Entry: Codable, Sendable, Equatable {
        /// The journal's sequence.
        public var sequence: Int64
        /// The device's hardware id.
        public var device: String
        /// What is told.
        public var change: Registration.Change

        /// Joins an entry.
        public init(sequence: Int64, device: String, change: Registration.Change) {
            self.sequence = sequence
            self.device = device
            self.change = change
        }
    }

    /// What is for one receiver; nil if nothing is.
    public func restricted(to receiver: ServiceName) -> RegistrationGroup? {
        var group = self
        group.entries.removeAll { !$0.change.receivers.contains(receiver) }
        return group.entries.isEmpty ? nil : group
    }

    /// The registrations, each by itself.
    public var registrations: [Registration] {
        entries.map { entry in
            Registration(
                sequence: entry.sequence, application: application, device: entry.device,
                change: entry.change, acceptedAtMilliseconds: acceptedAtMilliseconds)
        }
    }
}
