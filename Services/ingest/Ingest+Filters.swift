import Contracts
import JSON
import Service
import Store

/// The calls that make, show and take away filters.
enum FilterCall {
    case create
    case compile
    case list
    case delete
}

extension Ingest {
    /// Serves a call about filters.
    mutating func serveFilters(_ call: HTTPCall, _ kind: FilterCall, at now: Moment, in journal: Journal)
        throws(StoreError) -> Result<Served, Refusal>
    {
        let access = access
        let read = refusable { () throws(Refusal) -> (String, ObjectReader) in
            let request = try PushwooshRequest(call.body)
            return (try request.applicationOfAuth(access).code, request.members)
        }
        switch (read, kind) {
        case (.failure(let refusal), _): return .failure(refusal)
        case (.success(let (application, members)), .create):
            return try create(call, members, application, at: now, in: journal)
        case (.success(let (application, members)), .compile):
            return compile(call, members, application, at: now)
        case (.success(let (application, members)), .list):
            return try list(call, members, application, at: now, in: journal)
        case (.success(let (application, members)), .delete):
            return try delete(call, members, application, in: journal)
        }
    }

    private func create(
        _ call: HTTPCall, _ members: ObjectReader, _ application: String, at now: Moment, in journal: Journal
    ) throws(StoreError) -> Result<Served, Refusal> {
        let reader = PushwooshFilters(members: members, application: application)
        switch refusable({ () throws(Refusal) in try reader.definition() }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let definition):
            let today = CalendarDay.text(ofSeconds: now.wallSeconds)
            guard definition.expiresOn ?? today >= today else {
                return .failure(Refusal("expiration_date", "must not lie in the past", label: "filter"))
            }
            let code: String
            switch try journal.insert(definition, application: application, today: today, limits) {
            case .kept(let given): code = given
            case .nameTaken:
                return .failure(Refusal("name", "there is a filter of this name already", label: "filter"))
            case .full:
                return .failure(
                    Refusal(
                        "name", "the application has as many filters as it may; delete some first",
                        label: "filter"))
            }
            let response = JSONWriter.object {
                $0.member("name", definition.name)
                $0.member("code", code)
            }
            return .success(
                Served(
                    reply: PushwooshAnswer.success(call, JSONRaw(response)),
                    effects: [.count(Count("accepted", [("door", "pushwoosh"), ("kind", "filter")]))]))
        }
    }

    /// Says how many devices a filter would match now.
    private mutating func compile(
        _ call: HTTPCall, _ members: ObjectReader, _ application: String, at now: Moment
    ) -> Result<Served, Refusal> {
        let reader = PushwooshFilters(members: members, application: application)
        switch refusable({ () throws(Refusal) in try reader.dryRun() }) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let filter):
            return ask(
                .segmenter, .audience(filter: filter), application: application, for: call, at: now
            ) { call, content, _ in
                guard case .count(let devices) = content else { return nil }
                let response = JSONWriter.object {
                    $0.member("count", devices)
                    $0.member("filter_expression", filter.expression(application: application))
                }
                return PushwooshAnswer.success(call, JSONRaw(response))
            }
        }
    }

    private func list(
        _ call: HTTPCall, _ members: ObjectReader, _ application: String, at now: Moment, in journal: Journal
    ) throws(StoreError) -> Result<Served, Refusal> {
        if case .failure(let refusal) = refusable({ () throws(Refusal) in
            try members.refuseUnknown(known: ["application", "auth"])
        }) {
            return .failure(refusal)
        }
        let filters = try journal.filters(
            application: application, today: CalendarDay.text(ofSeconds: now.wallSeconds))
        let response = JSONWriter.object { response in
            response.array("filters") { list in
                for filter in filters { list.object { filter.write(application, to: &$0) } }
            }
        }
        return .success(Served(reply: PushwooshAnswer.success(call, JSONRaw(response))))
    }

    private func delete(
        _ call: HTTPCall, _ members: ObjectReader, _ application: String, in journal: Journal
    ) throws(StoreError) -> Result<Served, Refusal> {
        let name = refusable { () throws(Refusal) -> String in
            try members.refuseUnknown(known: ["application", "auth", "name"])
            return try members.requiredText("name")
        }
        switch name {
        case .failure(let refusal): return .failure(refusal)
        case .success(let name):
            guard try journal.deleteFilter(name: name, application: application) else {
                return .failure(Refusal("name", "there is no such filter", label: "filter"))
            }
            return .success(Served(reply: PushwooshAnswer.success(call, nil)))
        }
    }
}

extension KeptFilter {
    /// Writes the filter as `listFilters` shows it.
    fileprivate func write(_ application: String, to answer: inout JSONWriter) {
        answer.member("code", code)
        answer.member("name", name)
        answer.member("filter_expression", filter.expression(application: application))
        answer.member("expiration_date", expiresOn)
        answer.member("application", application)
    }
}
