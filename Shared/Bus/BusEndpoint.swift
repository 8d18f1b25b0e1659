public import Contracts

/// The files of one instance in the run directory: two sockets, a lock and the admin door's socket.
public struct BusEndpoint: Sendable, Equatable {
    /// The longest path of a Unix socket, in bytes (unix(7): `sun_path` holds 108 with its zero).
    public static let pathBytesMax = 107

    /// Where the sockets of all instances are.
    public let runDirectory: String
    /// Whose they are.
    public let instance: InstanceName

    /// Names the files of an instance.
    ///
    /// - Throws: `BusError` if the longest of them is no path of a Unix socket.
    public init(runDirectory: String, instance: InstanceName) throws(BusError) {
        var directory = runDirectory
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        // libzmq would take a leading @ for a name in the abstract namespace.
        self.runDirectory = directory.hasPrefix("@") ? "./" + directory : directory
        self.instance = instance
        for path in [path(.answers), path(.work), adminPath, lockPath] {
            guard path.utf8.count <= BusEndpoint.pathBytesMax else {
                throw BusError(.pathTooLong, call: "bind", path: path)
            }
            guard !runDirectory.isEmpty, !path.utf8.contains(0) else {
                throw BusError(.system, call: "bind", path: path, code: 22)
            }
        }
    }

    /// The socket of a lane, `<run>/<service>.<n>.work` or `.answers`.
    public func path(_ lane: Lane) -> String { path(of: instance, lane) }

    /// The Unix socket of the admin door, unless the configuration names an address.
    public var adminPath: String { "\(runDirectory)/\(instance).admin" }

    /// The file that is locked for the life of the instance.
    public var lockPath: String { "\(runDirectory)/\(instance).lock" }

    /// The socket of another instance in the same run directory.
    func path(of other: InstanceName, _ lane: Lane) -> String {
        "\(runDirectory)/\(other).\(lane.rawValue)"
    }
}
