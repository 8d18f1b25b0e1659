/// Certificates of a test authority, valid for a hundred years, that guard nothing.
enum Fixtures {
    /// Signed `certificate`.
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBqzCCAVGgAwIBAgIUPhP5LSJ3tKAhsifjmrPjjgeKNUswCgYIKoZIzj0EAwIw
        IjEgMB4GA1UEAwwXTGl2ZWxpbmUgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTMwMDYy
        MTQ3WhgPMjEyNjExMDYwNjIxNDdaMCIxIDAeBgNVBAMMF0xpdmVsaW5lIHRlc3Qg
        YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEu+lW/qDIYaU0HwIA
        k3cikvipzVtkVSgh5WcFJWdL0gmw0S4JHE8yidbjNrLbtN7sAVWtRUMdOdDZoI5I
        3BFfSqNjMGEwHQYDVR0OBBYEFGkmrxUoYPleIigKwQnVT0Bo9lOVMB8GA1UdIwQY
        MBaAFGkmrxUoYPleIigKwQnVT0Bo9lOVMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0P
        AQH/BAQDAgIEMAoGCCqGSM49BAMCA0gAMEUCIQC8XvyTuEnU3ggq2fynp3UuDzz1
        ytzt6uv6AivMqTo90AIge+scvrN3xS9BhfK/7ZzHTzPpZxhmgjjgdhpe7pIAEGs=
        -----END CERTIFICATE-----
        """ + "\n"

    /// For `localhost` and 127.0.0.1.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBtzCCAV6gAwIBAgIUKNPCDjOs44e2hqANWV24UmFsAekwCgYIKoZIzj0EAwIw
        IjEgMB4GA1UEAwwXTGl2ZWxpbmUgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTMwMDYy
        MTQ3WhgPMjEyNjExMDYwNjIxNDdaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMG
        ByqGSM49AgEGCCqGSM49AwEHA0IABCjstlUQepaqHgdmVaoXNXDvgCGmVpoZV3a3
        pULxr4QEVE0Hua5dkT0c/S4rvyWHNzxs0JCwF2Bn/eMEzgFNv5KjfjB8MBoGA1Ud
        EQQTMBGCCWxvY2FsaG9zdIcEfwAAATAJBgNVHRMEAjAAMBMGA1UdJQQMMAoGCCsG
        AQUFBwMBMB0GA1UdDgQWBBREPHML8fOb+HbT71x21PjdF3YLZTAfBgNVHSMEGDAW
        gBRpJq8VKGD5XiIoCsEJ1U9AaPZTlTAKBggqhkjOPQQDAgNHADBEAiA7YSFNUMAr
        qV+xqaL94oODIJPoWb74ai8G2gj7R7PuDgIgC3+29OExsaWX5yIDepkN/B1Rwqxp
        6sfRqFn09eONN6g=
        -----END CERTIFICATE-----
        """ + "\n"

    /// Belongs to `certificate`.
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghoC+bb4oPz/4+tgz
        4OY0wlaiVYR+mBkwEpBGYXfUsK+hRANCAAQo7LZVEHqWqh4HZlWqFzVw74Ahplaa
        GVd2t6VC8a+EBFRNB7muXZE9HP0uK78lhzc8bNCQsBdgZ/3jBM4BTb+S
        -----END PRIVATE KEY-----
        """ + "\n"

    /// Signed nothing of ours.
    static let otherAuthority = """
        -----BEGIN CERTIFICATE-----
        MIIBjzCCATWgAwIBAgIUTLFtMu4KrMJ/0D0CaNyHtWKKhrcwCgYIKoZIzj0EAwIw
        HDEaMBgGA1UEAwwRQW5vdGhlciBhdXRob3JpdHkwIBcNMjYxMTMwMDYyMTQ3WhgP
        MjEyNjExMDYwNjIxNDdaMBwxGjAYBgNVBAMMEUFub3RoZXIgYXV0aG9yaXR5MFkw
        EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1rdRK5NlFNTLsBwiV5hBl86rW1WsdNw5
        tK9LPh5IC41WsPF2VpavbK94Zx5EGM00e639Yn4RiSzfzhb/zf7w36NTMFEwHQYD
        VR0OBBYEFL21pJAofSuzGVMb+jhaMk6u3PKOMB8GA1UdIwQYMBaAFL21pJAofSuz
        GVMb+jhaMk6u3PKOMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIh
        AMCmxuVeOt815WsaRbuQyNthKE3yFtB1szFSioIQDCtTAiBOV87hRkfq2lCKa2Y7
        9BijfqExltS9oqJy66XsmM3bsg==
        -----END CERTIFICATE-----
        """ + "\n"
}
