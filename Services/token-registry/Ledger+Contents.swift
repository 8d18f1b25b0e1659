import Contracts
import Store

extension Ledger {
    func add(_ content: Content, message: Int64) throws(StoreError) {
        let notification = content.notification
        try database.run(
            """
            INSERT INTO content (message, activity, event, attributes_type, timestamp, stale_date, dismissal_date,
                relevance, input_token, input_channel, priority, expiration, collapse_id, apns_id, fallback_title,
                fallback_body, state, attributes, alert)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .int(message), .text(content.activity), .text(notification.event.rawValue),
            Value(notification.attributesType), Value(notification.timestampSeconds),
            Value(notification.staleDateSeconds), Value(notification.dismissalDateSeconds),
            Value(notification.relevanceScore), Value(notification.inputPushToken),
            Value(notification.inputPushChannel), Value(notification.priority),
            .int(notification.expirationSeconds), Value(notification.collapseID), Value(notification.apnsID),
            Value(notification.fallback?.title), Value(notification.fallback?.body),
            .blob(content.payload.contentState), .blob(content.payload.attributes),
            .blob(content.payload.alert))
    }

    func content(_ message: Int64) throws(StoreError) -> Content? {
        try database.first(
            """
            SELECT activity, event, attributes_type, timestamp, stale_date, dismissal_date, relevance, input_token,
                input_channel, priority, expiration, collapse_id, apns_id, fallback_title, fallback_body, state,
                attributes, alert FROM content WHERE message = ?
            """, .int(message)
        ) { row throws(StoreError) in
            Content(
                activity: row.text(0), notification: try Notification(row),
                payload: Payload(contentState: row.blob(15), attributes: row.blob(16), alert: row.blob(17)))
        }
    }
}

extension Notification {
    fileprivate init(_ row: borrowing Row) throws(StoreError) {
        self.init(event: try row.word(1), priority: Int(row.int(9)), expirationSeconds: row.int(10))
        attributesType = row.optionalText(2)
        timestampSeconds = row.optionalInt(3)
        staleDateSeconds = row.optionalInt(4)
        dismissalDateSeconds = row.optionalInt(5)
        relevanceScore = row.optionalText(6)
        inputPushToken = row.optionalText(7)
        inputPushChannel = row.optionalText(8)
        collapseID = row.optionalText(11)
        apnsID = row.optionalText(12)
        if let body = row.optionalText(14) { fallback = Fallback(title: row.optionalText(13), body: body) }
    }
}
