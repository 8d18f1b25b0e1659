import Foundation

/// Something that takes whatever libFuzzer makes up, and stops the process where it does what it must not.
protocol FuzzTarget {
    /// Prepares what all inputs share.
    init() throws

    /// Takes one input; it leaves nothing behind, so that an input that is found fails again by itself.
    mutating func feed(_ input: [UInt8]) throws
}

/// Runs libFuzzer on one of the targets: `fuzz TARGET [libFuzzer's options] [corpus directories and files]`.
@main struct Fuzz {
    private static var targets: [(name: String, type: any FuzzTarget.Type)] {
        [
            ("json", JSONTarget.self), ("filter", FilterTarget.self), ("contracts", ContractTarget.self),
            ("door", DoorTarget.self),
        ]
    }

    nonisolated(unsafe) private static var target: (any FuzzTarget)?

    static func main() throws {
        let known = targets.map(\.name).joined(separator: ", ")
        guard CommandLine.arguments.count > 1,
            let named = targets.first(where: { $0.name == CommandLine.arguments[1] })
        else {
            FileHandle.standardError.write(Data("usage: fuzz TARGET [OPTION...]; targets: \(known)\n".utf8))
            exit(64)
        }
        target = try named.type.init()
        // libFuzzer sees the command line without the target's name; it starts itself again with what it sees.
        var count = CommandLine.argc - 1
        var arguments = CommandLine.unsafeArgv + 1
        arguments[0] = CommandLine.unsafeArgv[0]
        exit(runFuzzer(&count, &arguments, Fuzz.feed))
    }

    private static let feed: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt = { bytes, count in
        do {
            try Fuzz.target?.feed(Array(UnsafeBufferPointer(start: bytes, count: count)))
        } catch {
            hold(false, "an error left the target: \(error)")
        }
        return 0
    }
}

/// libFuzzer's loop (LLVM, libFuzzer: using libFuzzer as a library).
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ feed: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Stops the process where something does not hold; libFuzzer then keeps the input.
func hold(_ condition: Bool, _ problem: @autoclosure () -> String) {
    guard !condition else { return }
    FileHandle.standardError.write(Data("does not hold: \(problem())\n".utf8))
    abort()
}
