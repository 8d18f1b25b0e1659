"""aioapns against the simulator of APNs: what is proved is that it behaves like APNs for somebody else's client."""

import asyncio
import contextlib
import ssl
import tempfile
import time

import aioapns
from aioapns import connection
from cryptography.hazmat.primitives.asymmetric import ec

import liveline

TOPIC = liveline.BUNDLE_ID + ".push-type.liveactivity"
# Without it no phone of iOS 18 has a token for the activity.
ASKS_FOR_TOKEN = {"input-push-token": 1}


@contextlib.contextmanager
def simulator(key):
    apns, control = liveline.free_ports(2)
    with tempfile.TemporaryDirectory(prefix="llc-", dir="/tmp") as directory:
        certificate = directory + "/certificate.pem"
        with open(directory + "/key.pem", "w") as file:
            file.write(liveline.public_pem(key))
        process = liveline.Process(directory, [
            liveline.executable("apns-simulator"), "--listen", f"127.0.0.1:{apns}", "--control",
            f"127.0.0.1:{control}", "--certificate-out", certificate, "--key",
            f"{liveline.TEAM_ID}:{liveline.KEY_ID}:{directory}/key.pem"])
        failed = True
        try:
            control = liveline.Simulator(control)
            liveline.wait("the simulator", lambda: process.answers(control.url + "/healthz"))
            for protocol in [connection.APNsProductionClientProtocol, connection.APNsDevelopmentClientProtocol]:
                protocol.APNS_SERVER, protocol.APNS_PORT = "127.0.0.1", apns
            context = ssl.create_default_context(cafile=certificate)
            context.set_alpn_protocols(["h2"])
            yield control, context
            failed = False
        finally:
            process.stop(failed)


def client(key, context):
    return aioapns.APNs(
        key=liveline.private_pem(key), key_id=liveline.KEY_ID, team_id=liveline.TEAM_ID, topic=TOPIC,
        ssl_context=context)


async def push(apns, token, aps, topic=None):
    request = aioapns.NotificationRequest(
        device_token=token, message={"aps": aps}, priority=10, time_to_live=60, apns_topic=topic,
        push_type=aioapns.PushType.LIVEACTIVITY)
    result = await apns.send_notification(request)
    assert result.notification_id == request.notification_id
    return result


def token_of(phone, name):
    def token():
        return next((one["token"] for one in phone()["activities"] if one["id"] == name), None)

    return liveline.wait(f"a token of {name}", token)


async def life(apns, phone):
    async def succeeds(token, aps):
        result = await push(apns, token, aps)
        assert result.is_successful, (result.status, result.description)

    await succeeds(phone()["startTokens"][0]["token"], liveline.aps("start", 0) | ASKS_FOR_TOKEN)
    token = token_of(phone, "order-1")
    liveline.next_second()
    await succeeds(token, liveline.aps("update", 1))
    await succeeds(token, liveline.aps("end", 2))
    seen = [(one["verdict"], one["contentState"]["n"]) for one in phone()["history"]]
    assert seen == [("started", 0), ("updated", 1), ("ended", 2)], seen


async def refusals(apns, control, phone):
    async def is_refused(status, reason, token, aps, **more):
        result = await push(apns, token, aps, **more)
        assert (result.status, result.description) == (status, reason), (result.status, result.description)
        return result

    update = liveline.aps("update", 1)
    await push(apns, phone()["startTokens"][0]["token"], liveline.aps("start", 0, "order-2") | ASKS_FOR_TOKEN)
    token = token_of(phone, "order-2")
    await is_refused("400", "BadDeviceToken", "ab" * 32, update)
    await is_refused(
        "400", "DeviceTokenNotForTopic", token, update, topic="com.example.other.push-type.liveactivity")
    await is_refused("413", "PayloadTooLarge", token, update | {"content-state": {"x": "x" * 4_096}})
    for status, reason in [("429", "TooManyRequests"), ("503", "ServiceUnavailable")]:
        control.call("/script", match={"token": token}, count=1, action="answer", reason=reason)
        await is_refused(status, reason, token, update)
    before = time.time() * 1_000
    control.act("ada", "uninstall")
    gone = await is_refused("410", "Unregistered", token, update)
    assert before - 2_000 <= gone.timestamp <= time.time() * 1_000 + 2_000, gone.timestamp


async def stranger(context, token):
    result = await push(client(ec.generate_private_key(ec.SECP256R1()), context), token, liveline.aps("update", 1))
    assert (result.status, result.description) == ("403", "InvalidProviderToken"), (
        result.status, result.description)


async def main():
    key = ec.generate_private_key(ec.SECP256R1())
    with simulator(key) as (control, context):
        control.call(
            "/phones", hwid="ada", application=liveline.APPLICATION, bundleId=liveline.BUNDLE_ID,
            attributesTypes=[liveline.TYPE], registerWith=None)

        def phone():
            return control.call("/phones/ada")

        apns = client(key, context)
        await stranger(context, phone()["startTokens"][0]["token"])
        await life(apns, phone)
        await refusals(apns, control, phone)


asyncio.run(main())
