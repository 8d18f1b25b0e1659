import Contracts
import Store

extension ServiceName {
    /// The bit of a receiver in `registrations.pending`.
    var pendingBit: Int64 {
        switch self {
        case .segmenter: 1
        case .tokenRegistry: 2
        default: 0
        }
    }
}

/// What the order of release must know of a registration.
struct RegistrationHead: Equatable {
    var sequence: Int64
    var application: String
    var device: String
    /// The activity it names.
    var activity: String?
    /// The token it names.
    var token: String?
    /// Who has not taken it yet.
    var receivers: [ServiceName]
}

extension RegistrationHead {
    /// What a registration names.
    init(_ registration: Registration) {
        sequence = registration.sequence
        application = registration.application
        device = registration.device
        receivers = registration.receivers
        switch registration.change {
        case .activityToken(let token):
            activity = token.activity
            self.token = token.token.isEmpty ? nil : token.token
        case .startToken(let token): self.token = token.token.isEmpty ? nil : token.token
        default: break
        }
    }
}

extension Journal {
    /// Keeps a registration until all its receivers have taken it.
    func insert(_ registration: Registration) throws(StoreError) {
        let head = RegistrationHead(registration)
        try database.run(
            "INSERT INTO registrations VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            .int(registration.sequence), .text(registration.application), .text(registration.device),
            .text(try encoded(registration.change)), .int(registration.acceptedAtMilliseconds),
            Value(head.activity), Value(head.token), .int(head.receivers.reduce(0) { $0 | $1.pendingBit }))
    }

    /// A registration that somebody still has to take.
    func registration(_ sequence: Int64) throws(StoreError) -> Registration? {
        try database.first(
            "SELECT application, device, change, acceptedAt FROM registrations WHERE sequence = ?",
            .int(sequence)
        ) { row throws(StoreError) in
            Registration(
                sequence: sequence, application: row.text(0), device: row.text(1),
                change: try value(Registration.Change.self, row.text(2)), acceptedAtMilliseconds: row.int(3))
        }
    }

    /// Every registration that somebody still has to take, the oldest first.
    func waitingRegistrations(_ body: (RegistrationHead) -> Void) throws(StoreError) {
        try database.query(
            "SELECT sequence, application, device, activity, token, pending FROM registrations ORDER BY sequence"
        ) { row in
            let pending = row.int(5)
            body(
                RegistrationHead(
                    sequence: row.int(0), application: row.text(1), device: row.text(2),
                    activity: row.optionalText(3), token: row.optionalText(4),
                    receivers: ServiceName.allCases.filter { $0.pendingBit & pending != 0 }))
        }
    }

    /// Notes that a receiver has a registration.
    ///
    /// - Returns: whose it is, and whether all have it now; nil if it was not waiting for that receiver.
    func markTaken(registration sequence: Int64, by service: ServiceName) throws(StoreError)
        -> (application: String, isTakenByAll: Bool)?
    {
        let left = try database.first(
            """
            UPDATE registrations SET pending = pending & ~?1 WHERE sequence = ?2 AND pending & ?1 <> 0
            RETURNING application, pending
            """, .int(service.pendingBit), .int(sequence)
        ) { (application: $0.text(0), isTakenByAll: $0.int(1) == 0) }
        if left?.isTakenByAll == true {
            try database.run("DELETE FROM registrations WHERE sequence = ?", .int(sequence))
        }
        return left
    }
}
