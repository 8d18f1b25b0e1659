"""pypushwoosh against the Pushwoosh door."""

from pypushwoosh import constants
from pypushwoosh.client import PushwooshClient
from pypushwoosh.command import BaseAuthCommand, RegisterDeviceCommand, SetTagsCommand

import liveline


class LiveActivityCommand(BaseAuthCommand):
    """A call that is younger than the library."""

    def __init__(self, name, **notification):
        super().__init__()
        self.command_name, self.auth, self.notification = name, liveline.API_TOKEN, notification

    def compile(self):
        self._command.update(application=liveline.APPLICATION, notifications=[self.notification])
        super().compile()


with liveline.Deployment() as deployment:
    client = PushwooshClient()
    client.scheme, client.hostname = "http", f"127.0.0.1:{deployment.door}"
    phone = liveline.Phone(deployment.simulator, "ada")

    def call(command, status=200):
        answer = client.invoke(command)
        assert answer["status_code"] == status, answer
        return answer

    def send(command, event, number, **more):
        activity = {"event": event, "content-state": {"n": number}} | more.pop("live_activity", {})
        answer = call(LiveActivityCommand(command, live_activity_id="order-1", live_activity=activity, **more))
        return answer["response"]["Messages"]

    # A device that is no phone of the simulator, and the tags of one that is.
    call(RegisterDeviceCommand(liveline.APPLICATION, "tablet", constants.PLATFORM_IOS, "ab" * 32))
    call(SetTagsCommand(liveline.APPLICATION, "ada", {"level": "vip"}))

    send(
        "startLiveActivity", "start", 0, content="We are preparing it", title="Your order", devices=["ada"],
        live_activity={"attributes-type": liveline.TYPE, "attributes": {"activityId": "order-1"}})
    phone.wait_for("order-1", {"n": 0})
    phone.token("order-1")
    send("updateLiveActivity", "update", 1)
    phone.wait_for("order-1", {"n": 1})
    send("updateLiveActivity", "end", 2)
    phone.wait_for("order-1", {"n": 2})
    liveline.wait("the end", lambda: phone.activity("order-1")["state"] == "ended")
    phone.check("order-1")

    late = LiveActivityCommand(
        "updateLiveActivity", live_activity_id="order-1",
        live_activity={"event": "update", "content-state": {"n": 3}})
    assert "live_activity_id" in call(late, 210)["status_message"]
