import FoundationEssentials

extension String {
    /// The path from the root on; a relative one begins at the working directory.
    ///
    /// What is relative in a configuration file is so to that file's directory, and not to where its writer worked.
    var absolutePath: String { hasPrefix("/") ? self : "\(FileManager.default.currentDirectoryPath)/\(self)" }
}
