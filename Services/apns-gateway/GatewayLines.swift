import Contracts
import HTTP2
import JSON
import Service

/// A gateway that runs alone prints its requests and reads the answers.
extension APNsOrder: LineWritable {
    var lineType: String {
        switch self {
        case .request: "request"
        case .hold: "hold"
        }
    }

    func lineBody() throws -> [UInt8] {
        switch self {
        case .request(let request): request.line
        case .hold(let pauses):
            JSONWriter.object { line in
                line.array("paused") { list in
                    for pause in pauses {
                        list.object {
                            $0.member("application", pause.application)
                            $0.member("environment", pause.environment.rawValue)
                        }
                    }
                }
            }
        }
    }
}

extension APNsRequest {
    /// The request without what only a connection adds, `:authority` and `authorization`.
    fileprivate var line: [UInt8] {
        var template = HeaderTemplate(group, authority: nil, providerToken: nil)
        let fields = template.headers(of: self).pairs
        return JSONWriter.object { line in
            line.member("message", id.push.message)
            line.member("device", id.push.device)
            line.member("number", id.number)
            line.member("application", group.application)
            line.member("environment", group.lane.environment.rawValue)
            line.member("team", group.lane.teamID)
            line.member("key", group.lane.keyID)
            line.object("headers") { headers in
                for field in fields { headers.member(field.name, field.value) }
            }
            line.member("body", String(decoding: body, as: UTF8.self))
            line.member("trial", trial)
        }
    }
}

extension APNsEvent: LineReadable {
    static var lineTypes: [String] { ["response", "no-response", "not-sent"] }

    /// Reads `{"message": …, "device": …}` with, for a response, `status`, `reason`, `timestamp` and `retryAfter`; a call
    /// about channels is answered with `channelId` and `content`.
    ///
    /// `number` names one request of a push that was sent more than once; without it the newest is meant.
    init(lineType: String, body: JSONValue) throws {
        guard let message = body["message"]?.int64, let device = body["device"]?.int64 else {
            throw LineError("message and device have to be whole numbers")
        }
        let number = body["number"]?.int64.flatMap { Int(exactly: $0) } ?? RequestID.newest
        let id = RequestID(push: PushID(message: message, device: device), number: number)
        switch lineType {
        case "response": self = .answered(id, try APNsAnswer(line: body), sentAtMilliseconds: .max)
        case "no-response": self = .unanswered(id, sentAtMilliseconds: .max)
        case "not-sent": self = .unsent(id, .late)
        default: throw LineError("\(lineType) is no event of the gateway")
        }
    }
}

extension APNsAnswer {
    fileprivate init(line: JSONValue) throws {
        guard let status = line["status"]?.int64, (200...599).contains(status) else {
            throw LineError("status has to be a number from 200 to 599")
        }
        self.init(
            status: Int(status), reason: line["reason"]?.string.flatMap(Self.reason),
            timestampMilliseconds: line["timestamp"]?.int64, retryAfterSeconds: line["retryAfter"]?.int64,
            channelID: line["channelId"]?.string,
            content: line["content"].map { Array($0.string?.utf8 ?? "".utf8) } ?? [])
    }
}
