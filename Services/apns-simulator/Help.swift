import Arguments

/// What `--help` and `--version` print.
enum Help {
    static let version = "apns-simulator 1.0\n"

    static var text: String {
        var lines = [
            "usage: apns-simulator (--key TEAM:KEYID:FILE | --any-key) [options]", "", about, "", "options:",
        ]
        lines += CommandOptions(OptionTable.all).help
        return (lines + ["", calls, "", codes, ""]).joined(separator: "\n")
    }

    private static let about = """
        An APNs that behaves as Apple documents, over HTTP/2 and TLS, with a modelled phone behind every
        token. Its certificate is made at each start; give --certificate-out to clients as the one to trust.
        When it is ready it says so on standard output, in one line.
        """

    private static let calls = """
        calls on the control port (JSON):
          POST   /phones                    make phones: application and prefix (or hwid); optional count, first,
                                            bundleId, environment, osVersion, tags ({n}, {n%7}, "{=n%7}"),
                                            attributesTypes, sharedStartToken, registerWith (URL or null),
                                            deviceToken, tokenDelayMilliseconds, allowsActivities, stateMembers,
                                            expect, activity, tokens {device, start}
          GET    /phones?prefix=P           what they show, in sum
          GET    /phones/HWID               tokens, activities and history of one
          POST   /phones/HWID/activities    the app starts one: id; optional attributesType, contentState, and token
                                            or channel
          POST   /phones/HWID/expect        activities: ids of the next starts whose attributes name none
          POST   /phones/HWID/rotate        new token for an activity, or for the phone; optional formerTokenSeconds,
                                            and registerAfterSeconds for an activity's
          POST   /phones/HWID/dismiss       the person removes an activity
          POST   /phones/HWID/offline, /online, /uninstall, /expire
          POST   /script                    one rule or an array: match {token, hwid, event, environment,
                                            connection, channel}, nth, every, count; action answer (status, reason,
                                            timestamp), pass, never, refuse, reset, goaway, close;
                                            delayMilliseconds, deliver, streamLimit
          GET    /script, DELETE /script
          POST   /connections               streamLimit, goAway (a reason), close, or handshakeDelayMilliseconds
          GET    /counters
          GET    /channels                  what APNs knows of each, and how many activities listen
          GET    /arrivals?since=N&limit=N  the last accepted pushes, from number N on; with &refused=1 all that came
          POST   /reset                     counters, script and arrivals; with {"phones": true} phones too
          GET    /healthz

        A started activity is known to its app by attributes.pushwoosh.activityId, else by the attributes
        member of --activity-id-member, else by what the phone was told to expect, else by an id of its own.
        """

    private static let codes = """
        ends with 0 after SIGTERM or SIGINT, 64 for a wrong option, 75 when an address cannot be listened on,
        78 for a key or certificate file.
        """
}
