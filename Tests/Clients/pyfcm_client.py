"""pyfcm against the Firebase door."""

import json

import pyfcm
from pyfcm import errors

import liveline

with liveline.Deployment() as deployment:
    pyfcm.FCMNotification.FCM_END_POINT_BASE = deployment.url + "/v1/projects"
    account = deployment.file("account.json")
    with open(account, "w") as file:
        json.dump(deployment.account(), file)
    client = pyfcm.FCMNotification(service_account_file=account, project_id=liveline.PROJECT)

    def send(token, aps):
        answer = client.notify(
            fcm_token="registration",
            apns_config={
                "live_activity_token": token, "headers": {"apns-priority": "10"}, "payload": {"aps": aps}})
        assert answer["name"].startswith("projects/demo/messages/"), answer
        return answer["name"]

    phone = liveline.Phone(deployment.simulator, "ada")
    ended = liveline.story(phone, send)
    liveline.expect(errors.FCMNotRegisteredError, send, ended, liveline.aps("update", 3))
    liveline.expect(errors.InvalidDataError, send, "aa" * 32, {"event": "udpate"})
