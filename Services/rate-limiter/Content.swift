import Contracts

/// What the targets of one message share; identity stands for equality, so that they go out as one group again.
final class Content: Sendable {
    let application: String
    let notification: Notification
    let payload: Payload

    init(application: String, notification: Notification, payload: Payload) {
        self.application = application
        self.notification = notification
        self.payload = payload
    }

    var isEnd: Bool { notification.event == .end }
}
