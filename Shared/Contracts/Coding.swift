extension Decoder {
    /// The single member of an object that names one of several cases.
    func onlyMember<Key: CodingKey>(_ type: Key.Type) throws -> (KeyedDecodingContainer<Key>, Key) {
        let values = try container(keyedBy: type)
        guard let key = values.allKeys.first, values.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "exactly one known member is needed"))
        }
        return (values, key)
    }
}
