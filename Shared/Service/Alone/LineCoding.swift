public import JSON

/// An adapter's event that can be given as a line of JSON to a service that runs alone.
///
/// The line is `{"type": one of lineTypes, "body": …}`.
public protocol LineReadable {
    /// The types of lines that are such events; none of them is a message's.
    static var lineTypes: [String] { get }
    /// Reads the body of a line.
    ///
    /// - Throws: what is wrong with it.
    init(lineType: String, body: JSONValue) throws
}

/// What a core asks of its adapter, as a service that runs alone prints it.
///
/// The line is `{"type": lineType, "body": …}`.
public protocol LineWritable {
    /// What stands as the type.
    var lineType: String { get }
    /// The body: a whole JSON text.
    func lineBody() throws -> [UInt8]
}

/// Says why a line cannot be taken.
public struct LineError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with it, without its content.
    public var description: String

    /// Describes a problem.
    public init(_ description: String) {
        self.description = description
    }
}
