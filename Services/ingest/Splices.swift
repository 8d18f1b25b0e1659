import JSON

/// The alert of a start whose caller sent none.
enum DefaultAlert {
    /// An object of title and body, without the one that is missing.
    static func bytes(title: String?, body: String?) -> [UInt8] {
        JSONWriter.object { alert in
            if let title { alert.member("title", title) }
            if let body { alert.member("body", body) }
        }
    }
}

/// Puts the id that Pushwoosh's SDK reads from the attributes into them, and leaves every other byte as it came.
enum PushwooshAttributes {
    /// The attributes with `pushwoosh.activityId`; unchanged where it is there.
    ///
    /// - Throws: `Refusal` where the SDK could not read what is there.
    static func bytes(_ attributes: JSONValue, activity: String) throws(Refusal) -> [UInt8] {
        let id = Array("\"activityId\":".utf8) + Array(JSONText.quote(activity).utf8)
        guard let member = attributes["pushwoosh"] else {
            return appending(
                Array("\"pushwoosh\":{".utf8) + id + [UInt8(ascii: "}")], to: attributes, in: attributes)
        }
        let own = try ObjectReader(member)
        guard member["activityId"] == nil else {
            _ = try own.requiredText("activityId")
            return attributes.bytes
        }
        return appending(id, to: member, in: attributes)
    }

    private static func appending(_ new: [UInt8], to object: JSONValue, in whole: JSONValue) -> [UInt8] {
        var bytes = whole.bytes
        let brace = object.byteRange.upperBound - 1 - whole.byteRange.lowerBound
        let isEmpty = object.members?.isEmpty ?? true
        bytes.insert(contentsOf: isEmpty ? new : [UInt8(ascii: ",")] + new, at: brace)
        return bytes
    }
}
