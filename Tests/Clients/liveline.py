"""A whole Liveline with a simulator of APNs, started for one test: `liveline up --simulator` on free ports."""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

APPLICATION = "AAAAA-00001"
BUNDLE_ID = "com.example.orders"
API_TOKEN = "k-test"
PROJECT = "demo"
# A project whose app has no key for APNs.
KEYLESS_PROJECT = "keyless"
# A project that the service account is not named in.
OTHER_PROJECT = "other"
EMAIL = "sender@demo.example"
TYPE = "OrderAttributes"
TEAM_ID = "TEAM123456"
KEY_ID = "KEY1234567"
PATIENCE_SECONDS = 30

signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def executable(name):
    """A program of the build whose directory is the first argument."""
    return os.path.join(sys.argv[1], name)


def free_ports(count):
    """Ports that no connection is given (ip(7), ip_local_port_range), and below those that Liveline takes for itself."""
    found = []
    for port in random.sample(range(5_000, 12_000), 1_000):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError("no free ports")


def private_pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def public_pem(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def wait(what, condition):
    """Waits until a condition has a value that counts as true."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {PATIENCE_SECONDS} s for {what}"
        time.sleep(0.05)
    return value


def next_second():
    """Waits until the next second begins.

    A start and the updates of its activity have different tokens, and the door cannot know that they belong together: as
    with Firebase itself, their order is by the timestamps that the caller gives, and those are whole seconds.
    """
    time.sleep(1 - time.time() % 1 + 0.01)


def expect(error, call, *arguments, **named):
    """The error that a call ends with, which is of this very class."""
    try:
        result = call(*arguments, **named)
    except Exception as seen:
        assert type(seen) is error, f"{type(seen)} instead of {error}: {seen}"
        return seen
    raise AssertionError(f"{result} instead of {error}")


class Process:
    """A program that is stopped at the end, with its log shown if the test failed."""

    def __init__(self, directory, arguments):
        self.log = os.path.join(directory, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def answers(self, url):
        assert self.process.poll() is None, f"ended with {self.process.returncode}"
        try:
            return urllib.request.urlopen(url, timeout=5).status == 200
        except OSError:
            return False

    def stop(self, failed):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if failed:
            with open(self.log, errors="replace") as log:
                sys.stderr.write(log.read()[-20_000:])


class Simulator:
    """The control port of a simulator."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def call(self, path, **members):
        body = json.dumps(members).encode() if members else None
        request = urllib.request.Request(self.url + path, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def act(self, hwid, action):
        request = urllib.request.Request(f"{self.url}/phones/{hwid}/{action}", b"{}", method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


class Phone:
    """A phone of the simulator; it registers by itself."""

    def __init__(self, simulator, hwid, **traits):
        self.simulator, self.hwid = simulator, hwid
        simulator.call(
            "/phones", hwid=hwid, application=APPLICATION, bundleId=BUNDLE_ID, attributesTypes=[TYPE], **traits)
        wait("the phones to register", self._is_registered)

    def _is_registered(self):
        counts = self.simulator.call("/counters")["registrations"]
        return counts["accepted"] > 0 and counts["waiting"] == 0 and counts["underWay"] == 0

    def view(self):
        return self.simulator.call(f"/phones/{self.hwid}")

    @property
    def start_token(self):
        return self.view()["startTokens"][0]["token"]

    def activity(self, name):
        return next((one for one in self.view()["activities"] if one["id"] == name), None)

    def token(self, name):
        """The update token of an activity, once Liveline knows it."""
        token = wait(f"a token of {name}", lambda: (self.activity(name) or {}).get("token"))
        wait("the token to be registered", self._is_registered)
        return token

    def wait_for(self, name, state):
        wait(f"{name} to show {state}", lambda: (self.activity(name) or {}).get("contentState") == state)

    def seen(self, name):
        return [(one["verdict"], one["contentState"]) for one in self.view()["history"] if one["activity"] == name]

    def check(self, name):
        """Makes sure that the phone has shown what `story` tells, and nothing else."""
        expected = [("started", {"n": 0}), ("updated", {"n": 1}), ("ended", {"n": 2})]
        assert self.seen(name) == expected, self.seen(name)


class Deployment:
    """All services and a simulator, as long as a `with` statement lasts."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="llc-", dir="/tmp")
        self.door, apns, control = free_ports(3)
        self.url = f"http://127.0.0.1:{self.door}"
        self.simulator = Simulator(control)
        self.account_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._write("sender.pem", public_pem(self.account_key))
        self._write("push.p8", private_pem(ec.generate_private_key(ec.SECP256R1())))
        self._write("liveline.json", json.dumps(self._configuration()))
        self.process = Process(self.directory, [
            executable("liveline"), "up", "--config", self.file("liveline.json"), "--simulator",
            "--apns", f"127.0.0.1:{apns}", "--control", f"127.0.0.1:{control}"])
        try:
            wait("the door", lambda: self.process.answers(self.url + "/readyz"))
            wait("the simulator", lambda: self.process.answers(self.simulator.url + "/healthz"))
        except BaseException:
            self.__exit__(AssertionError)
            raise
        return self

    def __exit__(self, error, *_):
        self.process.stop(error is not None)
        shutil.rmtree(self.directory, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.directory, name)

    def _write(self, name, text):
        with open(os.open(self.file(name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(text)

    def _configuration(self):
        accounts = [{"clientEmail": EMAIL, "publicKeyFile": "sender.pem"}]
        keys = [{"teamId": TEAM_ID, "keyId": KEY_ID, "file": "push.p8"}]
        return {
            "runDirectory": self.file("run"), "dataDirectory": self.file("data"),
            "http": {"listen": f"127.0.0.1:{self.door}"}, "delivery": {"intervalSeconds": 1},
            "applications": [
                {"code": APPLICATION, "bundleId": BUNDLE_ID, "firebaseProject": PROJECT,
                 "apiTokens": [API_TOKEN], "keys": keys, "serviceAccounts": accounts},
                {"code": "BBBBB-00002", "bundleId": "com.example.keyless", "firebaseProject": KEYLESS_PROJECT,
                 "apiTokens": ["k-keyless"], "keys": [], "serviceAccounts": accounts},
                {"code": "CCCCC-00003", "bundleId": "com.example.other", "firebaseProject": OTHER_PROJECT,
                 "apiTokens": ["k-other"], "keys": keys},
            ],
        }

    def account(self, project=PROJECT, key=None):
        """The JSON file that Google's console hands out for a service account, as a dictionary."""
        return {
            "type": "service_account", "project_id": project, "private_key_id": "0123456789abcdef",
            "private_key": private_pem(key or self.account_key), "client_email": EMAIL, "client_id": "1",
            "token_uri": self.url + "/token",
        }

    def status(self, name, token):
        """What the own door says of a message that the Firebase door has named."""
        request = urllib.request.Request(
            f"{self.url}/v1/messages/{name.split('/')[-1]}", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def wait_until_settled(self, name, token=API_TOKEN):
        """The counts by outcome of a message, once all of it has come to an end."""
        return wait(
            f"{name} to be settled",
            lambda: (status := self.status(name, token))["state"] == "settled" and status["outcomes"])


def aps(event, number, name="order-1"):
    """What a server puts into `aps` to start, update or end an activity."""
    payload = {"timestamp": int(time.time()), "event": event, "content-state": {"n": number}}
    if event == "start":
        payload |= {
            "attributes-type": TYPE, "attributes": {"activityId": name},
            "alert": {"title": "Your order", "body": "We are preparing it"},
        }
    return payload


def story(phone, send, name="order-1"):
    """Starts, updates and ends an activity by a function of (token, aps), and checks what the phone shows."""
    send(phone.start_token, aps("start", 0, name))
    phone.wait_for(name, {"n": 0})
    token = phone.token(name)
    next_second()
    send(token, aps("update", 1))
    phone.wait_for(name, {"n": 1})
    send(token, aps("end", 2))
    phone.wait_for(name, {"n": 2})
    wait("the end", lambda: phone.activity(name)["state"] == "ended")
    phone.check(name)
    return token
