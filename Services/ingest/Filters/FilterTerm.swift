import Contracts

/// Reads one condition of a filter expression, from behind its name.
struct FilterTerm {
    var scanner: FilterScanner
    let application: String

    init(scanner: FilterScanner, application: String) {
        self.scanner = scanner
        self.application = application
    }

    /// Reads the condition.
    mutating func read(_ name: String) throws(FilterFault) -> Filter {
        switch name.uppercased() {
        case "T": return try tag()
        case "AT":
            try expect("(", "after AT")
            try ownApplication()
            try expect(",", "after the application")
            return try tagMembers()
        case "A": return try platforms()
        case "G", "EVENT", "UPDATED": throw scanner.fault("\(name.uppercased())(…) is not supported")
        default: throw scanner.fault("unknown condition; T, AT and A are known")
        }
    }

    private mutating func tag() throws(FilterFault) -> Filter {
        try expect("(", "after T")
        return try tagMembers()
    }

    private mutating func tagMembers() throws(FilterFault) -> Filter {
        let name = try text("the tag's name in quotes")
        try expect(",", "after the tag's name")
        guard let comparison = try comparison() else {
            return .tag(name: name, comparison: .notSet, values: [])
        }
        try expect(",", "after the operator")
        let filter = try compared(name, comparison)
        try expect(")", "after the value")
        return filter
    }

    /// The operator; nil for "not set", behind which nothing follows.
    private mutating func comparison() throws(FilterFault) -> Filter.Comparison? {
        let operators = "EQ, NOTEQ, LTE, GTE, BETWEEN, IN, NOTIN or NOTSET"
        guard case .word(let word) = try scanner.token() else {
            throw scanner.fault("\(operators) is missing here")
        }
        switch word.uppercased() {
        case "NOT":
            guard case .word(let set) = try scanner.token(), set.uppercased() == "SET" else {
                throw scanner.fault("SET is missing here")
            }
        case "NOTSET", "NOT_SET": break
        case let known:
            guard let comparison = Filter.Comparison(rawValue: known) else {
                throw scanner.fault("must be \(operators)")
            }
            return comparison
        }
        try expect(")", "after NOTSET")
        return nil
    }

    private mutating func compared(_ name: String, _ comparison: Filter.Comparison) throws(FilterFault)
        -> Filter
    {
        let (values, isList, offset) = try operands()
        let fault = FilterFault(offset: offset, problem: FilterTerm.need(comparison))
        switch comparison {
        case .oneOf, .noneOf: guard isList, !values.isEmpty else { throw fault }
        case .between:
            guard isList, values.count == 2, FilterOperands.areComparable(values) else { throw fault }
        // A list is a documented operand of EQ: it means any of its members.
        case .equal: guard !values.isEmpty else { throw fault }
        case .notEqual, .lessOrEqual, .greaterOrEqual, .notSet: guard !isList else { throw fault }
        }
        return FilterOperands.tag(name, comparison, values)
    }

    private static func need(_ comparison: Filter.Comparison) -> String {
        switch comparison {
        case .oneOf, .noneOf: "must be a list of at least one value"
        case .between: "must be a list of two values, both texts or both numbers"
        case .equal: "must be a value, or a list of at least one"
        case .notEqual, .lessOrEqual, .greaterOrEqual, .notSet: "must be one value"
        }
    }

    private mutating func operands() throws(FilterFault) -> (values: [TagValue], isList: Bool, offset: Int) {
        let first = try scanner.token()
        let offset = scanner.offset
        guard first == .sign(UInt8(ascii: "[")) else { return ([try value(first)], false, offset) }
        return (try list(), true, offset)
    }

    /// The values of a list, from behind its bracket.
    private mutating func list() throws(FilterFault) -> [TagValue] {
        var values: [TagValue] = []
        while true {
            let token = try scanner.token()
            if values.isEmpty, token == .sign(UInt8(ascii: "]")) { return [] }
            values.append(try value(token))
            guard values.count <= FilterLimits.valuesMax else {
                throw scanner.fault("a list has at most \(FilterLimits.valuesMax) values")
            }
            switch try scanner.token() {
            case .sign(UInt8(ascii: "]")): return values
            case .sign(UInt8(ascii: ",")): continue
            default: throw scanner.fault("a comma or ] is missing here")
            }
        }
    }

    private func value(_ token: FilterScanner.Token) throws(FilterFault) -> TagValue {
        switch token {
        case .text(let text):
            guard text.utf8.count <= Texts.bytesMax else {
                throw scanner.fault("a text has at most \(Texts.bytesMax) bytes")
            }
            return .string(text)
        case .word(let word):
            guard let value = FilterOperands.value(word) else {
                throw scanner.fault("must be a number, a date, true, false or a text in quotes")
            }
            return value
        case .sign, .end: throw scanner.fault("a value is missing here")
        }
    }

    /// Reads the application's own code; nothing is known here of the devices of another.
    private mutating func ownApplication() throws(FilterFault) {
        guard try text("the application's code in quotes").uppercased() == application.uppercased() else {
            throw scanner.fault("only the filter's own application can be named")
        }
    }

    /// `A("APPLICATION")`, or with a list of platforms; here every device is an iOS device.
    private mutating func platforms() throws(FilterFault) -> Filter {
        try expect("(", "after A")
        try ownApplication()
        switch try scanner.token() {
        case .sign(UInt8(ascii: ")")): return .everyone
        case .sign(UInt8(ascii: ",")): break
        default: throw scanner.fault("a comma or ) is missing here")
        }
        try expect("[", "before the platforms")
        let platforms = try list()
        try expect(")", "after the platforms")
        let hasIOS = platforms.contains { value in
            if case .string(let name) = value { name.uppercased() == "IOS" } else { false }
        }
        return hasIOS ? .everyone : .any([])
    }

    private mutating func text(_ what: String) throws(FilterFault) -> String {
        guard case .text(let text) = try scanner.token() else {
            throw scanner.fault("\(what) is missing here")
        }
        guard !text.isEmpty, text.utf8.count <= Texts.bytesMax else {
            throw scanner.fault("must have 1 to \(Texts.bytesMax) bytes")
        }
        return text
    }

    private mutating func expect(_ sign: Unicode.Scalar, _ place: String) throws(FilterFault) {
        guard try scanner.token() == .sign(UInt8(ascii: sign)) else {
            throw scanner.fault("\(sign) is missing \(place)")
        }
    }
}
