internal import Glibc

// The life of connections: accepted, delayed, shaking hands, open, forgotten.

extension HTTP2Server {
    func withOpen(_ id: Int, _ body: (ServerConnection) -> Bool) -> Bool {
        guard let connection = connections[id], connection.phase == .open else { return false }
        let result = body(connection)
        enqueue(connection)
        return result
    }

    private func enqueue(_ connection: ServerConnection) {
        guard !connection.isQueued else { return }
        connection.isQueued = true
        queue.append(connection)
    }

    func advance(_ connection: ServerConnection) {
        let before = connection.wantsWrite
        if connection.advance(input) { unread.append(connection) }
        if connection.phase == .open { enqueue(connection) }
        settle(connection, wantedWrite: before)
    }

    /// Brings epoll and the timers in line with what became of a connection.
    func settle(_ connection: ServerConnection, wantedWrite: Bool) {
        guard connections[connection.id] != nil else { return }
        guard connection.phase != .closed else { return forget(connection) }
        if connection.wantsWrite != wantedWrite {
            readiness.change(
                connection.socket.descriptor, id: UInt64(connection.id), wantsWrite: connection.wantsWrite)
        }
        earliestTimer = min(earliestTimer, connection.timer ?? .max)
    }

    private func forget(_ connection: ServerConnection) {
        readiness.remove(connection.socket.descriptor)
        connection.session = nil
        connections[connection.id] = nil
    }

    func acceptAll() {
        for _ in 0..<Self.acceptsEachTurn {
            guard let descriptor = Sockets.accept(listener) else {
                // Without descriptors the listener stays readable and would spin.
                if errno == EMFILE || errno == ENFILE { pauseListening() }
                return
            }
            admit(descriptor)
        }
    }

    private func admit(_ descriptor: CInt) {
        guard connections.count < options.maxConnections,
            let socket = TLSSocket(descriptor: descriptor, context: tls.context, host: nil)
        else {
            Glibc.close(descriptor)
            return
        }
        acceptedConnections += 1
        let connection = ServerConnection(
            id: acceptedConnections, socket: socket, options: options, inbox: inbox,
            phase: .delayed(until: now + handshakeDelayMilliseconds))
        connections[connection.id] = connection
        if handshakeDelayMilliseconds > 0 {
            earliestTimer = min(earliestTimer, connection.timer ?? .max)
        } else {
            beginHandshake(connection)
        }
    }

    private func beginHandshake(_ connection: ServerConnection) {
        connection.phase = .handshaking(until: now + connection.options.handshakeTimeoutMilliseconds)
        readiness.add(connection.socket.descriptor, id: UInt64(connection.id))
        earliestTimer = min(earliestTimer, connection.timer ?? .max)
    }

    private func pauseListening() {
        readiness.remove(listener)
        isListening = false
        earliestTimer = min(earliestTimer, now + Self.acceptPauseMilliseconds)
    }

    func runTimers() {
        earliestTimer = .max
        if !isListening && listener >= 0 {
            readiness.add(listener, id: 0)
            isListening = true
        }
        for id in connections.keys.sorted() {
            guard let connection = connections[id], let timer = connection.timer else { continue }
            guard timer <= now else {
                earliestTimer = min(earliestTimer, timer)
                continue
            }
            if case .delayed = connection.phase {
                beginHandshake(connection)
            } else {
                connection.close("the handshake took too long")
                settle(connection, wantedWrite: connection.wantsWrite)
            }
        }
    }
}
