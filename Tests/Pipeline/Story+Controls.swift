/// What the application's own people do meanwhile: take messages back, hold everything for a while.
extension Story {
    /// Takes a message back, if it was accepted; whoever gets no answer asks again.
    func cancel(_ activity: Activity, _ n: Int) {
        guard let code = activity.accepted[n] else { return }
        world.own("DELETE", ["v1", "messages", code]) { activity.cancelled.insert(n) }
    }

    /// Holds all that the application sends, for some seconds.
    func pause() {
        let path = ["v1", "applications", World.application]
        world.own("POST", path + ["pause"]) { [unowned self] in
            world.plan(
                .act { [unowned self] in world.own("POST", path + ["resume"]) {} },
                inMilliseconds: Int64(world.random.number(1_000...40_000)))
        }
    }
}
