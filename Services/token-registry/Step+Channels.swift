import Contracts
import Service
import Store

/// Activities that are bound to a broadcast channel.
///
/// The channel is a participant of its run like a phone: its updates and its end are rows of the ledger, with an order,
/// a pace, one state that waits and one that is handed over. Phones on iOS 18 and later, in the channel's environment,
/// listen to it: they get starts of their own and no rows of updates. All others of the run are served by token.
///
/// A phone hears only what is broadcast after its start. So a start carries the newest state that was meant for the
/// channel, and a broadcast waits for the reports of starts that are out with an older one.
extension Step {
    /// Binds a run to a channel, as each of its commands says; a run has one channel from its beginning.
    func bind(_ run: RunRecord, _ channel: Channel) throws(StoreError) {
        guard run.channel == nil else { return }
        try serveByToken(run)
        let device = try knownDevice(
            run.application, hwid: ChannelBinding.hwid(channel.id), guestRun: run.number)
        device.environment = channel.environment
        let former = try ledger.newestParticipant(device: device.number)
        let fields = ParticipantFields(
            number: memory.nextParticipant, run: run.number, device: device.number, state: .active,
            place: TokenPlace(channel: channel.id, at: run.startedAt))
        memory.nextParticipant += 1
        try ledger.add(fields)
        let participant = adopt(fields)
        if var pace = former?.pace {
            // Another run's states are no older or newer than this one's.
            pace.lastOrder = nil
            participant.pace = pace
        }
        run.channel = ChannelBinding(
            id: channel.id, isStored: channel.isStored, participant: participant.number)
    }

    /// Notes that whoever is in a run already has come by a token.
    private func serveByToken(_ run: RunRecord) throws(StoreError) {
        try flush()
        try ledger.serveByToken(run: run.number)
        for participant in participantsAtHand(run: run.number) {
            participant.listens = false
            participant.markSaved()
        }
    }

    /// Whether a phone that a start goes to will listen.
    ///
    /// On iOS 17 an activity that names a channel does not start (Apple, Starting and updating Live Activities with
    /// ActivityKit push notifications), so that a phone which has not said its version gets a token. Without a binding
    /// the caller has named one phone and its channel, and knows.
    func listens(_ device: Device, _ run: RunRecord, _ notification: Notification) throws(StoreError) -> Bool
    {
        guard notification.inputPushChannel != nil else { return false }
        guard let channel = try channel(of: run) else { return device.canListen ?? true }
        return device.canListen == true && memory.environment(device.fields) == channel.environment
    }

    /// The channel that a run is bound to.
    func channel(of run: RunRecord) throws(StoreError) -> Channel? {
        guard let binding = run.channel, let (_, device) = try listener(of: run) else { return nil }
        return Channel(
            id: binding.id, environment: memory.environment(device.fields), isStored: binding.isStored)
    }

    /// The channel as a participant of its run.
    private func listener(of run: RunRecord?) throws(StoreError) -> (Participant, Device)? {
        guard let binding = run?.channel, let participant = try participant(binding.participant),
            let device = try device(participant.device)
        else { return nil }
        return (participant, device)
    }

    // MARK: Updates and ends

    /// Adds the one row that stands for all who listen.
    func offerToChannel(_ message: MessageRecord, _ run: RunRecord) throws(StoreError) {
        guard let (participant, device) = try listener(of: run) else { return }
        try offer(message, to: participant, device)
    }

    /// Ends a phone's part by an end that it hears, or before it was started.
    func endListener(_ participant: Participant, _ message: MessageRecord) throws(StoreError) {
        guard participant.end == nil else { return }
        participant.end = message.number
        if participant.state == .starting { try withdrawStart(of: participant) }
        // A start that is out is reported before the end is broadcast.
        guard participant.handed == nil else { return }
        try end(participant, Cause.ended)
    }

    /// Notes which state the channel is to show; starts that are out carry an older one from now on.
    func renewChannel(_ participant: Participant) throws(StoreError) {
        guard participant.place.isChannel, let run = try run(participant.run), var binding = run.channel
        else {
            return
        }
        binding.olderOut += binding.newestOut
        binding.newestOut = 0
        run.channel = binding
    }

    /// Whether a broadcast would come before phones that have to hear it.
    func mustWaitForStarts(_ message: MessageRecord, _ participant: Participant) throws(StoreError) -> Bool {
        guard participant.place.isChannel, let binding = try run(participant.run)?.channel else {
            return false
        }
        return binding.olderOut > 0 || message.kind == .end && binding.newestOut > 0
    }

    // MARK: Starts

    /// Chooses the state that a start carries: the newest one that was meant for those who listen already.
    func chooseState(_ message: MessageRecord, _ participant: Participant) throws(StoreError) {
        guard message.kind == .start, participant.listens == true, let run = try run(participant.run) else {
            return
        }
        participant.newest = try newestState(of: run, over: message)
    }

    private func newestState(of run: RunRecord, over start: MessageRecord) throws(StoreError) -> Int64? {
        guard let (channel, _) = try listener(of: run), let number = channel.newest,
            let state = try message(number), state.kind == .update, !state.isCancelled,
            state.order > start.order, let content = try content(start.number)
        else { return nil }
        let bytes =
            content.payload.attributes.count + state.contentBytes + start.alertBytes
            + limits.bodyBytesBesides + (content.notification.attributesType?.utf8.count ?? 0)
        guard bytes <= limits.bodyBytesMax else {
            // Attributes and state have to fit into 4 KB on the phone (Apple, Displaying live data with Live
            // Activities): what does not is not shown by an update either.
            emit(.count(Count("states_left_out", [("application", run.application)])))
            return nil
        }
        return number
    }

    /// Counts a start of someone who listens as handed over.
    func countOut(_ message: MessageRecord, _ participant: Participant) throws(StoreError) {
        guard message.kind == .start, participant.listens == true, let run = try run(participant.run),
            let (channel, _) = try listener(of: run)
        else { return }
        if participant.newest == channel.newest {
            run.channel?.newestOut += 1
        } else {
            run.channel?.olderOut += 1
        }
    }

    /// Counts it as back; what waited for it may go.
    func countBack(_ row: Delivery, _ participant: Participant) throws(StoreError) {
        guard participant.listens == true, let run = try run(participant.run), row.id.message == run.start,
            let (channel, _) = try listener(of: run), var binding = run.channel
        else { return }
        if participant.newest == channel.newest, binding.newestOut > 0 {
            binding.newestOut -= 1
        } else {
            binding.olderOut = max(0, binding.olderOut - 1)
        }
        run.channel = binding
    }

    /// Has the next broadcast be later on the wire than a start was: its phone shows nothing that is not newer.
    func noteForChannel(_ participant: Participant, wireSeconds wire: Int64) throws(StoreError) {
        guard participant.listens == true, let (channel, _) = try listener(of: try run(participant.run))
        else {
            return
        }
        channel.pace.lastWireSeconds = max(channel.pace.lastWireSeconds, wire)
    }

    /// Holds broadcasts back while a start that was lost may still reach its phone.
    func holdChannel(_ participant: Participant, until instant: Int64) throws(StoreError) {
        guard participant.listens == true, let run = try run(participant.run),
            let held = run.channel?.heldUntil
        else { return }
        run.channel?.heldUntil = max(held, instant)
    }

    /// Lets the state that waits for the channel find its place, after a start has come back.
    func broadcastNext(_ participant: Participant) throws(StoreError) {
        guard participant.listens == true, let (channel, device) = try listener(of: try run(participant.run)),
            channel.handed == nil, let waiting = channel.waiting,
            let row = try delivery(PushID(message: waiting, device: channel.device)), row.isOpen,
            row.place == nil
        else { return }
        try schedule(row, channel, device)
    }

    /// Counts a phone that was started as one that listens; a start that was given up may have gone out after all.
    func hear(_ participant: Participant) throws(StoreError) {
        guard let run = try run(participant.run) else { return }
        if participant.state == .ended, participant.place.sequence == 0, participant.end == nil,
            run.end == nil
        {
            run.open += 1
            run.channel?.members += 1
            run.isEmptySaid = false
            participant.state = .active
        }
        guard participant.state == .starting else { return }
        if participant.end != nil || run.end != nil { return try end(participant, Cause.ended) }
        participant.state = .active
    }

    /// Serves somebody who listened by the token that its app has registered.
    func leaveChannel(_ participant: Participant) throws(StoreError) {
        guard participant.listens == true, let run = try run(participant.run) else { return }
        participant.listens = run.channel == nil ? nil : false
        if participant.state != .ended { run.channel?.members -= 1 }
    }
}

extension Step {
    /// What a row shows: its message, for a start as its phone is to be reached.
    ///
    /// - Returns: nil if the message is not known.
    func content(of row: Delivery, _ variant: ContentVariant) throws(StoreError) -> Content? {
        guard var content = try content(row.id.message) else { return nil }
        switch variant {
        case .asItIs: break
        case .byToken:
            content.notification.inputPushChannel = nil
            content.notification.inputPushToken = content.notification.inputPushToken ?? "1"
        case .carrying(let number):
            guard let newer = try self.content(number) else { break }
            content.payload.contentState = newer.payload.contentState
            content.notification.timestampSeconds = newer.notification.timestampSeconds
            content.notification.staleDateSeconds = newer.notification.staleDateSeconds
            content.notification.relevanceScore = newer.notification.relevanceScore
        }
        return content
    }

    /// In which form a row shows its message.
    func variant(of row: Delivery, _ message: MessageRecord, _ participant: Participant?) throws(StoreError)
        -> ContentVariant
    {
        guard message.kind == .start, let participant,
            try content(message.number)?.notification.inputPushChannel != nil
        else { return .asItIs }
        guard participant.listens == true else { return .byToken }
        return participant.newest.map { .carrying($0) } ?? .asItIs
    }
}

/// The forms in which a message may go out.
enum ContentVariant: Hashable {
    case asItIs
    /// A start for a phone that does not listen: it asks for a token in the place of the channel.
    case byToken
    /// A start with the state of a later message.
    case carrying(Int64)
}
