internal import CSystem
internal import Glibc

/// Tells the service manager how far the process is (sd_notify(3)), if one asked to be told.
struct ServiceManager {
    private let path: String?

    /// Takes the manager's address from `NOTIFY_SOCKET`.
    init(environment: [String: String]) {
        path = environment["NOTIFY_SOCKET"]
    }

    /// Says that the process works.
    func ready() { notify("READY=1") }

    /// Says that the process is about to stop.
    func stopping() { notify("STOPPING=1") }

    /// Sends one datagram; a manager that cannot be reached is none of the service's business.
    private func notify(_ text: String) {
        guard let path, path.hasPrefix("/") || path.hasPrefix("@") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = [UInt8](path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // An @ stands for the zero byte of a name in the abstract namespace, which is not ended by one.
        let isAbstract = path.hasPrefix("@")
        if isAbstract { name[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let offset = MemoryLayout<sa_family_t>.size
        let size = socklen_t(offset + name.count + (isAbstract ? 0 : 1))
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe sendto(
                    descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL), address, size)
            }
        }
    }
}
