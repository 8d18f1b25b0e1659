import Contracts
import Foundation

/// The decoder of what services tell each other: a frame a line, as golden files have them.
///
/// Whatever decodes means the same when it is written and read again, and the same to the reader made for the usual
/// spelling as to the general one.
struct ContractTarget: FuzzTarget {
    private let coder = ParcelCoder()

    func feed(_ input: [UInt8]) throws {
        let lines = input.last == UInt8(ascii: "\n") ? input.dropLast() : input[...]
        let frames = lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(
            Array.init)
        let parcel: Parcel
        do {
            parcel = try coder.parcel(frames)
        } catch {
            return hold(error.byteCount == frames.reduce(0) { $0 + $1.count }, "\(error)")
        }
        let written = try coder.frames(parcel)
        hold(try coder.parcel(written) == parcel, "written and read again it is another message")
        hold(try coder.frames(coder.parcel(written)) == written, "written twice it differs")
        try checkGeneralReader(parcel, frames[1])
        for message in parcel.messages { ContractTarget.use(message) }
    }

    private func checkGeneralReader(_ parcel: Parcel, _ bodies: [UInt8]) throws {
        let general = try? coder.decodeBodies(parcel.envelope.type, Data(bodies))
        hold(
            general
                == parcel.messages.map { message in
                    var bare = message
                    bare.payload = Payload()
                    return bare
                }, "the general reader reads something else")
    }

    /// What each receiver works out of a message before it looks at it.
    private static func use(_ message: Message) {
        _ = (message.answeredKeys, message.window?.count, message.account, message.lane, message.isPlausible)
        for service in ServiceName.allCases { _ = message.keptKeys(receiver: service) }
        switch message {
        case .registration(let registration):
            hold(Message.registration(registration.bounded()).isPlausible, "a bounded registration")
        case .report(let report): _ = report.bounded()
        default: break
        }
    }
}
