import JSON

/// The error that a text is refused with; `nil` when it is accepted.
func refusal(_ text: String, depthMax: Int = JSONDocument.depthMaxDefault) -> JSONError? {
    refusal(Array(text.utf8), depthMax: depthMax)
}

func refusal(_ bytes: [UInt8], depthMax: Int = JSONDocument.depthMaxDefault) -> JSONError? {
    do {
        _ = try JSONDocument(bytes, depthMax: depthMax)
        return nil
    } catch {
        return error
    }
}

func text(_ value: JSONValue?) -> String? {
    value.map { String(decoding: $0.bytes, as: UTF8.self) }
}
