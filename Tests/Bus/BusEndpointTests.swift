import Contracts
import Testing

@testable import Bus

@Suite struct BusEndpointTests {
    /// A directory name with which the longest path of a limiter has so many bytes.
    private func directory(pathBytes: Int) -> String {
        "/" + String(repeating: "d", count: pathBytes - "/".count - "/rate-limiter.1.answers".count)
    }

    @Test func `a path of 107 bytes is taken`() throws {
        let endpoint = try BusEndpoint(
            runDirectory: directory(pathBytes: 107), instance: InstanceName(.rateLimiter))
        #expect(endpoint.path(.answers).utf8.count == 107)
    }

    @Test func `a path of 108 bytes is refused with path, length and limit`() throws {
        let directory = directory(pathBytes: 108)
        let error = try #require(throws: BusError.self) {
            _ = try BusEndpoint(runDirectory: directory, instance: InstanceName(.rateLimiter))
        }
        #expect(error.reason == .pathTooLong)
        #expect(error.description.contains("\(directory)/rate-limiter.1.answers"))
        #expect(error.description.contains("108 bytes"))
        #expect(error.description.contains("at most 107"))
    }

    @Test func `bytes count, not characters`() throws {
        let error = try #require(throws: BusError.self) {
            _ = try BusEndpoint(
                runDirectory: "/" + String(repeating: "é", count: 60), instance: InstanceName(.ingest))
        }
        #expect(error.reason == .pathTooLong)
    }

    @Test func `slashes at the end are left out`() throws {
        let endpoint = try BusEndpoint(runDirectory: "/run/x//", instance: InstanceName(.ingest, 2))
        #expect(endpoint.path(.work) == "/run/x/ingest.2.work")
        #expect(endpoint.lockPath == "/run/x/ingest.2.lock")
        #expect(endpoint.adminPath == "/run/x/ingest.2.admin")
    }

    @Test func `a name that libzmq would read otherwise is made plain`() throws {
        let endpoint = try BusEndpoint(runDirectory: "@run", instance: InstanceName(.ingest))
        #expect(endpoint.path(.work) == "./@run/ingest.1.work")
    }

    @Test(arguments: ["", "/run\0/x"])
    func `what is no path is refused`(directory: String) {
        #expect(throws: BusError.self) {
            _ = try BusEndpoint(runDirectory: directory, instance: InstanceName(.ingest))
        }
    }
}
