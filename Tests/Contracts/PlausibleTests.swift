import Contracts
import Testing

@Suite struct PlausibleTests {
    @Test(arguments: samples.map(\.name))
    func `every sample can be reckoned with`(_ name: String) throws {
        let sample = try #require(samples.first { $0.name == name })
        #expect(sample.messages.allSatisfy { $0.isPlausible })
    }

    private func changed(_ change: (inout Targets) -> Void) -> Message {
        var changed = targets
        change(&changed)
        return .targets(changed)
    }

    @Test(arguments: [Int64.max, .min, -1])
    func `a number that overflows what is reckoned from it is told`(_ number: Int64) {
        var command = start
        command.sequence = number == .max ? 0 : number
        var late = start
        late.acceptedAtMilliseconds = number
        var batch = Batch(pass: pass, index: 0, last: true, recipients: [], command: late)
        var push = pushes
        push.pushes[0].sendBeforeMilliseconds = number
        let messages: [Message] = [
            .command(command), .command(late), .batch(batch), .pushes(push),
            changed { $0.notification.expirationSeconds = number },
            changed { $0.notification.staleDateSeconds = number },
            changed { $0.targets[0].burst = Int(number) },
            changed { $0.targets[0].attempt = Int(number) },
            changed { $0.targets[0].intervalMilliseconds = number },
            changed { $0.targets[0].notBeforeMilliseconds = number },
            changed { $0.targets[0].pace.lastWireSeconds = number },
            changed { $0.targets[0].pace.fullAtMilliseconds = number },
            changed { $0.targets[0].order.seconds = number },
        ]
        for message in messages { #expect(!message.isPlausible, "\(message.type)") }
        batch = Batch(pass: pass, index: -1, last: true, recipients: [], command: start)
        #expect(!Message.batch(batch).isPlausible)
    }
}
