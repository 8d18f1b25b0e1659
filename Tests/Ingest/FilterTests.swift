import Contracts
import JSON
import Service
import Testing

@testable import ingest

@Suite struct FilterTests {
    @discardableResult
    private func create(
        _ bench: Bench, _ members: String, auth: String = "k-test", application: String? = "AAAAA-00001"
    )
        throws -> HTTPReply
    {
        let application = application.map { #""application":"\#($0)","# } ?? ""
        return try bench.call(
            "POST", "/json/1.3/createFilter", #"{"request":{\#(application)"auth":"\#(auth)",\#(members)}}"#)
    }

    private func start(_ bench: Bench, _ target: String) throws -> HTTPReply {
        try bench.start(Bench.start.replacing(#""devices":["dev-1"]"#, with: target))
    }

    static func tag(_ comparison: Filter.Comparison, _ values: TagValue...) -> Filter {
        .tag(name: "T", comparison: comparison, values: values)
    }

    static let conditions: [(String, Filter)] = [
        (#"["T","EQ","x"]"#, tag(.equal, .string("x"))), (#"["T","noteq",7]"#, tag(.notEqual, .integer(7))),
        (#"["T","LTE",1.5]"#, tag(.lessOrEqual, .number(1.5))),
        (#"["T","GTE","2026-01-31"]"#, tag(.greaterOrEqual, .string("2026-01-31"))),
        (#"["T","EQ",true]"#, tag(.equal, .boolean(true))),
        (#"["T","BETWEEN",[1,9]]"#, tag(.between, .integer(1), .integer(9))),
        (#"["T","IN",["a","b"]]"#, tag(.oneOf, .string("a"), .string("b"))),
        (#"["T","NOTIN",[1]]"#, tag(.noneOf, .integer(1))), (#"["T","NOTSET"]"#, tag(.notSet)),
        (#"["T","EQ",["a","b"]]"#, tag(.oneOf, .string("a"), .string("b"))),
        (#"["T","EQ",1],["T","EQ",2]"#, .all([tag(.equal, .integer(1)), tag(.equal, .integer(2))])),
    ]

    @Test(arguments: conditions)
    func `conditions become an expression that goes inside the command`(_ text: String, _ filter: Filter)
        throws
    {
        let bench = try Bench()
        let reply = try create(bench, #""name":"f","conditions":[\#(text)]"#)
        #expect(reply.json?["response"]?["name"]?.string == "f")
        #expect(try start(bench, #""filter":"f""#).code == 200)
        try bench.restart()
        #expect(try bench.turn().commands.first?.audience == .filter(filter))
    }

    @Test func `an expression goes inside the command as well`() throws {
        let bench = try Bench()
        let text = #"(T(\"T\", EQ, 1) * AT(\"AAAAA-00001\", \"T\", NOTSET))"#
        #expect(try create(bench, #""name":"f","filter_expression":"\#(text)""#).code == 200)
        #expect(try start(bench, #""filter":"f""#).code == 200)
        let filter = Filter.all([FilterTests.tag(.equal, .integer(1)), FilterTests.tag(.notSet)])
        #expect(try bench.turn().commands.first?.audience == .filter(filter))
    }

    @Test func `seg-same-device-twice: devices beside a filter are refused, the same every time`() throws {
        let bench = try Bench()
        #expect(try create(bench, #""name":"f","conditions":[["T","NOTSET"]]"#).code == 200)
        let target = #""devices":["dev-1","dev-1","dev-2","dev-1"]"#
        for both in [#"\#(target),"filter":"f""#, #""filter":"f",\#(target)"#] {
            let reply = try start(bench, both)
            #expect(reply.code == 210)
            #expect(
                reply.statusMessage == """
                    notifications[0].filter: only one of filter, devices; \
                    notifications[0].devices: only one of filter, devices
                    """)
        }
        #expect(try bench.turn().isEmpty)
        #expect(try start(bench, target).code == 200)
        #expect(
            try bench.turn().commands.first?.audience == .devices(["dev-1", "dev-1", "dev-2", "dev-1"]))
    }

    @Test func `the operator joins them by all or by any`() throws {
        let bench = try Bench()
        let two = #""conditions":[["T","EQ",1],["T","EQ",2]]"#
        try create(bench, #""name":"all","operator":"and",\#(two)"#)
        try create(bench, #""name":"any","operator":"OR",\#(two)"#)
        let parts = [FilterTests.tag(.equal, .integer(1)), FilterTests.tag(.equal, .integer(2))]
        let today = "2023-11-14"
        #expect(
            try bench.journal.filter(name: "all", application: "AAAAA-00001", today: today) == .all(parts))
        #expect(
            try bench.journal.filter(name: "any", application: "AAAAA-00001", today: today) == .any(parts))
    }

    @Test func `a filter is found by its code too, and by its own application only`() throws {
        let bench = try Bench()
        let reply = try create(bench, #""name":"f","conditions":[["T","NOTSET"]]"#)
        let code = try #require(reply.json?["response"]?["code"]?.string)
        #expect(code.wholeMatch(of: /[0-9A-F]{5}-[0-9A-F]{5}/) != nil)
        #expect(try start(bench, #""filter_code":"\#(code)""#).code == 200)
        let other = try create(
            bench, #""name":"f","conditions":[["T","NOTSET"]]"#, auth: "k-other", application: nil)
        #expect(other.code == 200)
        #expect(other.json?["response"]?["code"]?.string != code)
    }

    static let faults: [(String, String)] = [
        (#""conditions":[["T","EQ",1]]"#, "name: missing"),
        (#""name":"g""#, "filter_expression: missing; filter_expression or conditions is needed"),
        (#""name":"g","conditions":[]"#, "conditions: must have 1 to 100 elements"),
        (#""name":"g","conditions":[["T"]]"#, "conditions[0]: must be [tag, operator, operand]"),
        (#""name":"g","conditions":[[7,"EQ",1]]"#, "conditions[0][0]: must be a string"),
        (
            #""name":"g","conditions":[["T","LIKE",1]]"#,
            "conditions[0][1]: must be one of EQ, NOTEQ, LTE, GTE, BETWEEN, IN, NOTIN, NOTSET"
        ),
        (#""name":"g","conditions":[["T","EQ"]]"#, "conditions[0]: has too few or too many parts"),
        (#""name":"g","conditions":[["T","NOTSET",1]]"#, "conditions[0]: has too few or too many parts"),
        (#""name":"g","conditions":[["T","BETWEEN",[1]]]"#, "conditions[0][2]: must have 2 to 2 elements"),
        (
            #""name":"g","conditions":[["T","BETWEEN",["a",1]]]"#,
            "conditions[0][2]: must be two texts or two numbers"
        ),
        (#""name":"g","conditions":[["T","IN","a"]]"#, "conditions[0][2]: must be an array"),
        (
            #""name":"g","conditions":[["T","GTE",[1]]]"#,
            "conditions[0][2]: must be a string, a finite number or a boolean"
        ),
        (#""name":"g","conditions":[["T","EQ",1]],"operator":"XOR""#, #"operator: must be "AND" or "OR""#),
        (#""name":"g","filter_expression":7"#, "filter_expression: must be a string"),
        (
            #""name":"g","filter_expression":"T(\"a\", LIKE, 1)""#,
            "filter_expression: at byte 7: must be EQ, NOTEQ, LTE, GTE, BETWEEN, IN, NOTIN or NOTSET"
        ),
        (
            #""name":"g","filter_expression":"T(\"a\", EQ, 1)","conditions":[["T","EQ",1]]"#,
            "conditions: only one of filter_expression and conditions"
        ),
        (
            #""name":"g","conditions":[["T","EQ",1]],"expiration_date":"soon""#,
            "expiration_date: must be a date, YYYY-MM-DD"
        ),
        (#""name":"g","conditions":[["T","EQ",1]],"colour":1"#, "colour: unknown member"),
        (#""name":"f","conditions":[["T","EQ",1]]"#, "name: there is a filter of this name already"),
    ]

    @Test(arguments: faults)
    func `a wrong filter is refused by name`(_ members: String, _ message: String) throws {
        let bench = try Bench()
        try create(bench, #""name":"f","conditions":[["T","NOTSET"]]"#)
        let reply = try create(bench, members)
        #expect(reply.code == 210)
        #expect(reply.statusMessage == message)
        #expect(try start(bench, #""filter":"g""#).code == 210)
    }

    @Test func `without an application the token says whose filter it is`() throws {
        let members = #""name":"f","conditions":[["T","NOTSET"]]"#
        let shared = try Bench(Bench.configuration { $0.apiTokenDigests.append(contentsOf: []) })
        #expect(try create(shared, members, application: nil).code == 200)
        #expect(
            try create(shared, members, auth: "none", application: nil).statusMessage == "auth: not valid")
        var configuration = Bench.configuration()
        configuration.applications[1].apiTokenDigests = configuration.applications[0].apiTokenDigests
        let reply = try create(try Bench(configuration), members, application: nil)
        #expect(reply.statusMessage.hasPrefix("application: missing"))
    }

    @Test func `an expired filter is no filter, and gives its name free`() throws {
        let bench = try Bench()
        let members = #""name":"f","conditions":[["T","NOTSET"]],"expiration_date":"2023-11-14""#
        try create(bench, members)
        #expect(try start(bench, #""filter":"f""#).code == 200)
        bench.advance(seconds: 86_400)
        let later = Bench.start.replacing("ord-12", with: "b")
        let reply = try bench.start(later.replacing(#""devices":["dev-1"]"#, with: #""filter":"f""#))
        #expect(reply.statusMessage == "notifications[0].filter: there is no such filter")
        #expect(try create(bench, members.replacing("2023-11-14", with: "2023-12-31")).code == 200)
    }

    @Test(arguments: [
        ("2028-02-29", true), ("2026-02-29", false), ("2100-02-29", false), ("2000-02-29", true),
        ("2026-04-31", false), ("2026-12-31", true), ("2026-13-01", false), ("2026-01-00", false),
    ])
    func `a day is one that there is`(text: String, exists: Bool) {
        #expect(CalendarDay.isWellFormed(text) == exists)
    }

    @Test func `a filter that has expired already is refused`() throws {
        let reply = try Bench().call(
            "POST", "/json/1.3/createFilter",
            #"{"request":{"application":"AAAAA-00001","auth":"k-test","name":"f","filter_expression":"#
                + #""A(\"AAAAA-00001\")","expiration_date":"2020-01-01"}}"#)
        #expect(reply.code == 210)
        #expect(reply.statusMessage.contains("expiration_date"))
    }

    @Test(
        arguments: [
            (0, "1970-01-01"), (951_782_400, "2000-02-29"), (951_868_800, "2000-03-01"),
            (1_700_000_000, "2023-11-14"),
            (4_107_542_400, "2100-03-01"), (-1, "1969-12-31"),
        ] as [(Int64, String)])
    func `a day is that of UTC`(_ seconds: Int64, _ day: String) {
        #expect(CalendarDay.text(ofSeconds: seconds) == day)
    }
}
