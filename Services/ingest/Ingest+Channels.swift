import Contracts
import Service
import Store

/// Broadcast channels: made and removed at APNs, bound to activities here.
extension Ingest {
    /// How long APNs may take for a call about channels, in milliseconds.
    static let channelDeadlineMilliseconds: Int64 = 10_000

    /// Serves `/v1/applications/{app}/channels` and `…/channels/{id}`.
    ///
    /// Making a channel is not idempotent at APNs: one whose answer is lost stays there unknown, and the list shows it.
    mutating func serveChannels(_ call: HTTPCall, at now: Moment, in journal: Journal) throws(StoreError)
        -> Result<Served, Refusal>
    {
        let known =
            call.path.count > 4 ? try journal.channel(call.path[4], application: call.path[2]) : nil
        let access = access
        let read = refusable { () throws(Refusal) in try ChannelCall(call, access) { _, _ in known } }
        switch read {
        case .failure(let refusal): return .failure(refusal)
        case .success(let asked):
            let code = asked.application.code
            if case .delete(_, let id) = asked.question,
                let activity = try runningActivity(channel: id, application: code, at: now, in: journal)
            {
                return .failure(
                    Refusal(
                        .conflict, "", "the channel is bound to the running activity \(activity)",
                        label: "channel"))
            }
            return ask(
                .apnsGateway, .channel(question: asked.question), application: code, for: call, at: now,
                withinMilliseconds: Ingest.channelDeadlineMilliseconds,
                late: { ChannelReply.late($0, asked.question) }
            ) { call, content, known in
                guard case .channel(let answer) = content else { return nil }
                return ChannelReply.of(call, answer, application: code, asked.question, known: known)
            }
        }
    }

    /// How the channels that an answer names were made, and which activity each is bound to.
    func knownChannels(_ answer: ChannelAnswer, application: String, at now: Moment, in journal: Journal)
        throws(StoreError) -> [String: KnownChannel]
    {
        let ids: [String] =
            switch answer {
            case .listed(let ids): ids
            case .read(let channel): [channel.id]
            case .created, .deleted, .refused, .unanswered: []
            }
        var known: [String: KnownChannel] = [:]
        for id in ids {
            known[id] = KnownChannel(
                isStored: try journal.channel(id, application: application)?.isStored,
                activity: try runningActivity(channel: id, application: application, at: now, in: journal))
        }
        return known
    }

    /// The running activity that a channel is bound to.
    private func runningActivity(channel: String, application: String, at now: Moment, in journal: Journal)
        throws(StoreError) -> String?
    {
        guard let run = try journal.openActivity(channel: channel, application: application),
            run.state(access, nowMilliseconds: now.wall) == .running
        else { return nil }
        return run.activity.name
    }

    /// Remembers what an answer says of channels, whoever waits for it.
    func note(_ answer: ChannelAnswer, application: String?, at now: Moment, in journal: Journal)
        throws(StoreError) -> [Effect<IngestOutput>]
    {
        switch answer {
        case .created(let application, let channel):
            try journal.note(channel, application: application, atMilliseconds: now.wall)
            return [
                .log(LogLine(.info, "channel-made", [("application", application), ("channel", channel.id)]))
            ]
        case .read(let channel):
            if let application {
                try journal.note(channel, application: application, atMilliseconds: now.wall)
            }
        case .deleted(let id):
            if let application { try journal.forgetChannel(id, application: application) }
        case .listed, .refused, .unanswered: break
        }
        return []
    }

    // MARK: Activities

    /// The running run that is bound to a channel.
    private func runningRun(channel: String, application: String, at now: Moment, in journal: Journal)
        throws(StoreError) -> Run?
    {
        guard let run = try journal.openRun(channel: channel, application: application) else { return nil }
        return run.state(access, nowMilliseconds: now.wall) == .running ? run : nil
    }

    /// The channel that a push binds its run to, with what is known of how it was made.
    ///
    /// Of one that was made elsewhere the application's environment is assumed, and that nothing is stored: a push that
    /// does not outlive its one attempt is right for both.
    func channel(of draft: Draft, in journal: Journal) throws(StoreError) -> Channel? {
        guard let id = draft.channel else { return nil }
        let application = draft.activity.application
        if let known = try journal.channel(id, application: application) { return known }
        return Channel(
            id: id, environment: access.application(application)?.environment ?? .production, isStored: false)
    }

    /// Why a start cannot have its channel: an update of one activity would show on the phones of the other.
    func channelRefusal(of draft: Draft, at now: Moment, in journal: Journal) throws(StoreError) -> Refusal? {
        guard let id = draft.channel,
            let run = try runningRun(
                channel: id, application: draft.activity.application, at: now, in: journal),
            run.activity.space == .id
        else { return nil }
        return Refusal(
            draft.fields.channel.text, "the channel is bound to another running activity", label: "channel")
    }

    /// An update or end that names a channel goes to the activity that it is bound to; without one the channel is an
    /// activity of its own, shown by phones whose app has chosen to listen.
    func decideChannelChange(_ draft: Draft, at now: Moment, in journal: Journal) throws(StoreError)
        -> RunDecision
    {
        let run = try runningRun(
            channel: draft.activity.name, application: draft.activity.application, at: now, in: journal)
        guard let run else { return .begins }
        let size = PayloadSize.of(draft.notification, draft.payload)
        guard run.activity.space == .channel || size <= PayloadSize.bytesMax else {
            return .refused(
                Refusal(
                    draft.fields.activity.text,
                    "the APNs body would have \(size) bytes, more than \(PayloadSize.bytesMax): phones on iOS 17 get it by token",
                    label: "size"))
        }
        return run.activity.space == .channel ? .run(run.number) : Ingest.sized(draft, run)
    }
}
