"""firebase-admin against the Firebase door: an activity's life, and each error that the door can answer."""

import asyncio
import itertools
import sqlite3

import firebase_admin
import google.auth.credentials
import google.auth.exceptions
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from firebase_admin import credentials, exceptions, messaging

import liveline


class FixedToken(credentials.Base):
    """Credentials with a token that is no good, however often it is asked for."""

    class _Token(google.auth.credentials.Credentials):
        def refresh(self, request):
            self.token = "no-good"

    def get_credential(self):
        return self._Token()


class Client:
    # The library refuses a second app of one name.
    numbers = itertools.count()

    def __init__(self, credential, project=liveline.PROJECT):
        name = f"{project}-{next(Client.numbers)}"
        self.app = firebase_admin.initialize_app(credential, {"projectId": project}, name=name)

    def message(self, token, aps, **members):
        # What the library has no argument for goes through as it is.
        others = {name: value for name, value in aps.items() if name != "alert"}
        alert = messaging.ApsAlert(**aps["alert"]) if "alert" in aps else None
        target = {"token": "registration"} if "fid" not in members else {"fid": members.pop("fid")}
        return messaging.Message(
            **target, **members,
            apns=messaging.APNSConfig(
                live_activity_token=token, headers={"apns-priority": "10"},
                payload=messaging.APNSPayload(messaging.Aps(alert=alert, custom_data=others))))

    def send(self, token, aps, dry_run=False, **members):
        return messaging.send(self.message(token, aps, **members), dry_run=dry_run, app=self.app)


def lives(client, deployment):
    phone = liveline.Phone(deployment.simulator, "ada")
    ended = liveline.story(phone, client.send)
    error = liveline.expect(messaging.UnregisteredError, client.send, ended, liveline.aps("update", 3))
    assert error.code == exceptions.NOT_FOUND, error.code
    # By installation id, with parts for other platforms, and many at once.
    liveline.story(
        phone, lambda token, aps: client.send(token, aps, fid="installation", data={"k": "v"},
                                              android=messaging.AndroidConfig(priority="high")), "order-2")
    one, two = (client.message(f"{n}{n}" * 32, liveline.aps("update", 1)) for n in "cd")
    wrong = client.message("ee" * 32, {"event": "udpate"})
    answers = messaging.send_each([one, wrong, two], app=client.app).responses
    assert [answer.success for answer in answers] == [True, False, True]
    assert type(answers[1].exception) is exceptions.InvalidArgumentError, answers[1].exception
    answers = asyncio.run(messaging.send_each_async([one, wrong], app=client.app)).responses
    assert [answer.success for answer in answers] == [True, False]


def dry_run(client, deployment):
    phone = liveline.Phone(deployment.simulator, "grace")
    name = client.send(phone.start_token, liveline.aps("start", 0), dry_run=True)
    assert name.startswith("projects/demo/messages/"), name
    liveline.expect(exceptions.InvalidArgumentError, client.send, "zz", liveline.aps("start", 0), dry_run=True)
    liveline.story(phone, client.send)


def token_that_died(client, deployment):
    phone = liveline.Phone(deployment.simulator, "katherine")
    client.send(phone.start_token, liveline.aps("start", 0))
    token = phone.token("order-1")
    deployment.simulator.act("katherine", "uninstall")
    # Nobody knows yet that it is dead, so it is accepted.
    name = client.send(token, liveline.aps("update", 1))
    outcomes = deployment.wait_until_settled(name)
    assert outcomes["delivered"] == 0, outcomes
    liveline.expect(messaging.UnregisteredError, client.send, token, liveline.aps("update", 2))


def arguments(client, _):
    token = "aa" * 32
    for aps in [
        {"event": "update"}, {"event": "udpate", "content-state": {}},
        liveline.aps("update", 1) | {"timestamp": 1_700_000_000_000},
        liveline.aps("update", 1) | {"content-state": {"text": "x" * 4_096}},
    ]:
        error = liveline.expect(exceptions.InvalidArgumentError, client.send, token, aps)
        assert "message.apns.payload" in str(error), error
    for target in [{"topic": "news"}, {"condition": "'a' in topics"}]:
        message = client.message(token, liveline.aps("update", 1))
        message.token = None
        vars(message).update(target)
        error = liveline.expect(exceptions.InvalidArgumentError, messaging.send, message, app=client.app)
        assert f"message.{next(iter(target))}" in str(error), error


def access(deployment):
    account = credentials.Certificate(deployment.account())
    update = ("aa" * 32, liveline.aps("update", 1))
    error = liveline.expect(
        messaging.ThirdPartyAuthError, Client(account, liveline.KEYLESS_PROJECT).send, *update)
    assert error.code == exceptions.UNAUTHENTICATED, error.code
    liveline.expect(exceptions.PermissionDeniedError, Client(account, liveline.OTHER_PROJECT).send, *update)
    liveline.expect(exceptions.NotFoundError, Client(account, "nowhere").send, *update)
    liveline.expect(exceptions.UnauthenticatedError, Client(FixedToken()).send, *update)
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    client = Client(credentials.Certificate(deployment.account(key=stranger)))
    error = liveline.expect(google.auth.exceptions.RefreshError, client.send, *update)
    assert "invalid_grant" in str(error), error


def store_that_cannot_be_written(client, deployment):
    # The library's own retries would wait half a minute for what this test knows.
    session = messaging._get_messaging_service(client.app)._client.session
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=0))
    update = ("aa" * 32, liveline.aps("update", 1))
    journal = sqlite3.connect(deployment.file("data/journal.sqlite"), isolation_level=None)
    journal.execute("BEGIN IMMEDIATE")
    try:
        error = liveline.expect(exceptions.UnavailableError, client.send, *update)
        assert error.http_response.headers["Retry-After"], error.http_response.headers
    finally:
        journal.execute("ROLLBACK")
        journal.close()
    liveline.wait("the store to be written again", lambda: accepts(client, update))


def accepts(client, update):
    try:
        return client.send(*update)
    except exceptions.UnavailableError:
        return None


with liveline.Deployment() as deployment:
    messaging._MessagingService.FCM_URL = deployment.url + "/v1/projects/{0}/messages:send"
    client = Client(credentials.Certificate(deployment.account()))
    lives(client, deployment)
    dry_run(client, deployment)
    token_that_died(client, deployment)
    arguments(client, deployment)
    access(deployment)
    store_that_cannot_be_written(client, deployment)
