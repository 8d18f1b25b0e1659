/// A table as text: a head, and columns as wide as their widest cell.
struct Table: Equatable {
    /// On which side of its column a cell stands.
    enum Side { case left, right }

    private let sides: [Side]
    private var rows: [[String]]

    /// - Parameter columns: the head of each column, and the side on which its cells stand.
    init(_ columns: [(head: String, side: Side)]) {
        sides = columns.map(\.side)
        rows = [columns.map(\.head)]
    }

    /// Adds a row; missing cells are empty.
    mutating func add(_ cells: String...) {
        rows.append(cells + Array(repeating: "", count: max(0, sides.count - cells.count)))
    }

    /// Adds a row; missing cells are empty.
    mutating func add(_ cells: [String]) {
        rows.append(cells + Array(repeating: "", count: max(0, sides.count - cells.count)))
    }

    /// The lines of the table, joined.
    var text: String {
        let widths = sides.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = sides.indices.map { column in
                let gap = String(repeating: " ", count: widths[column] - row[column].count)
                return sides[column] == .left ? row[column] + gap : gap + row[column]
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
