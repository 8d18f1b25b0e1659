import Service
import Testing

@Suite struct ProxyAddressTests {
    @Test(
        arguments: [
            ("http://proxy.example:3128", "proxy.example", 3_128, nil),
            ("http://10.0.0.1:80/", "10.0.0.1", 80, nil), ("http://[::1]:3128", "::1", 3_128, nil),
            // RFC 7617, section 2: the example of "Aladdin" and "open sesame".
            (
                "http://Aladdin:open%20sesame@proxy.example:8080", "proxy.example", 8_080,
                "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
            ),
            ("http://user:p%40%3Ass@proxy.example:1", "proxy.example", 1, "Basic dXNlcjpwQDpzcw=="),
            ("http://user:@proxy.example:1", "proxy.example", 1, "Basic dXNlcjo="),
        ] as [(String, String, Int, String?)])
    func `a proxy is read from its URL`(_ url: String, _ host: String, _ port: Int, _ authorization: String?)
    {
        let proxy = ProxyAddress(url)
        #expect(proxy?.host == host)
        #expect(proxy?.port == port)
        #expect(proxy?.authorization == authorization)
    }

    @Test(arguments: [
        "proxy.example:3128", "https://proxy.example:3128", "http://proxy.example", "http://:3128", "",
        "http://proxy.example:0", "http://proxy.example:65536", "http://proxy.example:3128/path",
        "http://proxy.example:3128?x", "http://user@proxy.example:3128", "http://:word@proxy.example:3128",
        "http://a%3Ab:word@proxy.example:3128", "http://a b@proxy.example:3128",
    ])
    func `anything else is refused`(_ url: String) {
        #expect(ProxyAddress(url) == nil)
    }
}
