internal import CNghttp2
internal import Glibc

// From TCP through a proxy to TLS and `h2`.

extension HTTP2Connection {
    func establish() {
        if phase == .connecting {
            guard Sockets.isWritable(tcp) else { return }
            let code = Sockets.pendingError(tcp)
            guard code == 0 else { return finish(.connectFailed(Sockets.text(code))) }
            phase = .tunnelling
        }
        if phase == .tunnelling && advanceTunnel() { beginHandshake() }
        if phase == .handshaking { advanceHandshake() }
    }

    private func advanceTunnel() -> Bool {
        switch tunnel?.advance(tcp) {
        case nil, .open: return true
        case .waiting(let wantsWrite): self.wantsWrite = wantsWrite
        case .refused(let status): finish(.proxyRefused(status: status))
        case .lost(let text): finish(.lost(text))
        }
        return false
    }

    private func beginHandshake() {
        socket = TLSSocket(descriptor: tcp, context: tls.context, host: host)
        guard socket != nil else { return finish(.tls("\(host) cannot be used as a host name")) }
        phase = .handshaking
    }

    private func advanceHandshake() {
        guard let socket else { return }
        switch socket.handshake() {
        case .done where socket.isHTTP2: open()
        case .done: finish(.notHTTP2)
        case .wantsRead: wantsWrite = false
        case .wantsWrite: wantsWrite = true
        case .closed: finish(.lost("closed during the handshake"))
        case .failed(let text): finish(.tls(text))
        }
    }

    private func open() {
        guard let session = Session(.client(streamLimit: streamLimit), handler: self) else {
            return finish(.lost("nghttp2 has no memory"))
        }
        self.session = session
        session.settings([(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)])
        phase = .open
        wantsWrite = false
        needsFlush = true
        events.append(.ready)
    }
}
