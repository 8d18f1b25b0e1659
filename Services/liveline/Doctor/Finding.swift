/// Something that is not as it should be, and what to do about it.
struct Finding: Equatable, Sendable {
    /// What is wrong, with the file or the service that it is about.
    var what: String
    var remedy: String

    init(_ what: String, _ remedy: String) { (self.what, self.remedy) = (what, remedy) }

    /// Two lines for people.
    var text: String { "\(what)\n    \(remedy)" }
}
