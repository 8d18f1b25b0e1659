import Foundation

/// One line of Swift in the tree.
struct SourceLine {
    var file: String
    var number: Int
    var text: String

    var place: String { "\(file):\(number): \(text.trimmingCharacters(in: .whitespaces))" }
    var isComment: Bool { text.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
}

/// The Swift files of the package, as text.
struct SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    let files: [(path: String, lines: [SourceLine])]

    init(under folders: String...) throws {
        var files: [(String, [SourceLine])] = []
        for folder in folders {
            let base = SourceTree.root.appendingPathComponent(folder)
            let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
            for path in paths.sorted() where path.hasSuffix(".swift") {
                let text = try String(contentsOf: base.appendingPathComponent(path), encoding: .utf8)
                let name = "\(folder)/\(path)"
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                    .map { SourceLine(file: name, number: $0.offset + 1, text: String($0.element)) }
                files.append((name, lines))
            }
        }
        self.files = files
    }

    var code: [SourceLine] { files.flatMap(\.lines).filter { !$0.isComment } }

    /// The modules that a file imports.
    static func imports(_ lines: [SourceLine]) -> [String] {
        lines.compactMap { line in
            guard line.text.utf8Contains("import ") else { return nil }
            guard
                let match = line.text.firstMatch(
                    of: /^\s*(?:(?:public|internal|private|@testable) )*import (?:struct |func |enum )?(\w+)/)
            else { return nil }
            return String(match.1)
        }
    }
}

extension String {
    /// Whether the bytes of another text stand in this one; many times faster than comparing characters.
    func utf8Contains(_ part: String) -> Bool {
        var text = Substring(self).utf8
        let part = Array(part.utf8)
        while let start = text.firstIndex(of: part[0]) {
            text = text[start...]
            if text.starts(with: part) { return true }
            text = text.dropFirst()
        }
        return false
    }
}
