import Testing

@testable import liveline

struct NumbersTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567"),
        (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func `thousands are set apart`(number: Int, text: String) {
        #expect(Numbers.grouped(number) == text)
    }

    @Test(arguments: [
        (0.0, 2, "0.00"), (1.005, 1, "1.0"), (12.96, 1, "13.0"), (-0.04, 1, "0.0"), (-2.5, 0, "-3"),
        (3.007, 2, "3.01"),
        (.infinity, 2, "-"), (.nan, 2, "-"), (0.05, 2, "0.05"),
    ])
    func `digits behind the point are rounded`(number: Double, digits: Int, text: String) {
        #expect(Numbers.fixed(number, digits) == text)
    }

    @Test func `microseconds are shown as milliseconds`() {
        #expect(Numbers.milliseconds(1_234) == "1.23")
    }
}

struct TableTests {
    @Test func `columns are as wide as their widest cell`() {
        var table = Table([("name", .left), ("n", .right), ("why", .left)])
        table.add("a", "10", "x")
        table.add("longer", "5")
        #expect(table.text == "name     n  why\na       10  x\nlonger   5")
    }

    @Test func `a table without rows is its head`() {
        #expect(Table([("a", .left), ("b", .right)]).text == "a  b")
    }
}
