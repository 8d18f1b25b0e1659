"""async-firebase against the Firebase door."""

import asyncio

import async_firebase._credentials
from async_firebase import AsyncFirebaseClient, errors
from async_firebase.messages import APNSConfig, APNSPayload, Aps, Message

import liveline


def message(token, payload):
    # The library knows no Live Activities: it puts what it does not know beside `aps`, where it may replace it.
    return Message(
        token="registration",
        apns=APNSConfig(
            live_activity_token=token, headers={"apns-priority": "10"},
            payload=APNSPayload(Aps(custom_data=payload))))


with liveline.Deployment() as deployment:
    AsyncFirebaseClient.BASE_URL = deployment.url
    async_firebase._credentials.TOKEN_URL = deployment.url + "/token"

    async def call(token, payload):
        async with AsyncFirebaseClient() as client:
            client.creds_from_service_account_info(deployment.account())
            return await client.send(message(token, payload))

    def send(token, aps):
        answer = asyncio.run(call(token, {"aps": aps}))
        assert answer.success, answer.exception
        return answer.message_id

    phone = liveline.Phone(deployment.simulator, "ada")
    ended = liveline.story(phone, send)

    answer = asyncio.run(call(ended, {"aps": liveline.aps("update", 3)}))
    assert type(answer.exception) is errors.UnregisteredError, answer.exception

    # What lands beside `aps` is refused by name instead of being left out.
    answer = asyncio.run(call("aa" * 32, liveline.aps("update", 1)))
    assert type(answer.exception) is errors.InvalidArgumentError, answer.exception
    assert "message.apns.payload.aps.event: missing" in str(answer.exception), answer.exception
