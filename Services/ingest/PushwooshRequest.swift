import Contracts
import JSON
import Service

/// The `request` object of a call at the Pushwoosh door.
struct PushwooshRequest {
    let members: ObjectReader

    /// Reads a body: JSON with everything inside one object.
    init(_ body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do {
            document = try JSONDocument(body)
        } catch {
            throw Refusal(json: error, fieldPrefix: "request.")
        }
        members = try ObjectReader(try ObjectReader(document.root).required("request"))
    }

    /// The application that a server calls for, once its token has been checked.
    func application(_ access: Access) throws(Refusal) -> Configuration.Application {
        let application = try namedApplication(access)
        let auth = try members.requiredText("auth", bytesMax: 4_096)
        guard access.admits(apiToken: auth, to: application) else {
            throw members.wrong("auth", "not valid for this application", label: "auth")
        }
        return application
    }

    /// The application that a phone calls for, once its token has been checked.
    func application(_ access: Access, phone call: HTTPCall) throws(Refusal) -> Configuration.Application {
        let application = try namedApplication(access)
        guard access.admits(phone: call, to: application) else {
            throw Refusal("Authorization", "no valid device token", label: "auth")
        }
        return application
    }

    /// The application of a call that a server makes with `auth`, and a phone without.
    func applicationOfEither(_ access: Access, _ call: HTTPCall) throws(Refusal) -> Configuration.Application
    {
        members.lenient("auth") == nil ? try application(access, phone: call) : try application(access)
    }

    /// The application of a call that need not name one: then the only one that the token is for.
    func applicationOfAuth(_ access: Access) throws(Refusal) -> Configuration.Application {
        if members.lenient("application") != nil { return try application(access) }
        let found = access.applications(apiToken: try members.requiredText("auth", bytesMax: 4_096))
        guard let only = found.first else { throw members.wrong("auth", "not valid", label: "auth") }
        guard found.count == 1 else {
            throw members.wrong(
                "application", "missing; auth is valid for several applications", label: "application")
        }
        return only
    }

    private func namedApplication(_ access: Access) throws(Refusal) -> Configuration.Application {
        let code = try members.requiredText("application")
        guard let application = access.application(code) else {
            throw members.wrong("application", "not found", label: "application")
        }
        return application
    }
}

extension Refusal {
    /// A refusal for a text that is no JSON, or that has a member twice.
    init(json error: JSONError, fieldPrefix: String = "") {
        let path =
            error.path.hasPrefix(fieldPrefix) ? String(error.path.dropFirst(fieldPrefix.count)) : error.path
        switch error.kind {
        case .repeatedMember:
            self.init(path, "repeated member, at byte \(error.byteOffset)", label: "repeated")
        case .tooDeep: self.init(path, "nested too deep, at byte \(error.byteOffset)", label: "json")
        default:
            self.init(.notJSON, [Violation(field: "", problem: "not JSON: \(error)")], label: "json")
        }
    }
}
