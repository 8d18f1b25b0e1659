/// A row of the ledger as the registry works on it: what it is now, and what the ledger holds of it.
///
/// What differs is written once, at the end of the step.
@dynamicMemberLookup
final class Record<Fields: Equatable> {
    /// What the row is now.
    var fields: Fields
    private(set) var saved: Fields?

    /// Makes a row that the ledger does not hold yet.
    init(new fields: Fields) { self.fields = fields }

    /// Takes a row as the ledger holds it.
    init(saved fields: Fields) {
        self.fields = fields
        saved = fields
    }

    /// Whether the ledger holds something else.
    var isChanged: Bool { saved != fields }

    /// Notes that the ledger holds what the row is now.
    func markSaved() { saved = fields }

    // Inlined, so that a key path written in the source becomes a plain access to the field.
    subscript<Value>(dynamicMember path: KeyPath<Fields, Value>) -> Value {
        @inline(__always) get { fields[keyPath: path] }
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<Fields, Value>) -> Value {
        @inline(__always) get { fields[keyPath: path] }
        @inline(__always) set { fields[keyPath: path] = newValue }
    }
}
