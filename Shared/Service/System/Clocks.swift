import Contracts
internal import Glibc
import Web

extension Moment {
    /// Reads both clocks.
    static func now() -> Moment {
        var time = timespec()
        let result = unsafe clock_gettime(CLOCK_REALTIME, &time)
        precondition(result == 0, "clock_gettime")
        let wall = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        return Moment(monotonic: MonotonicClock.nowMilliseconds(), wall: wall)
    }
}

/// What the process has used so far.
struct ProcessUsage: Equatable {
    /// Seconds of CPU, in the program and in the kernel.
    let cpuSeconds: Double
    /// Resident memory, in bytes; 0 where the kernel does not say.
    let residentBytes: Int

    /// Asks the kernel.
    static func now() -> ProcessUsage {
        var time = timespec()
        let result = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        precondition(result == 0, "clock_gettime")
        let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        return ProcessUsage(cpuSeconds: seconds, residentBytes: residentPages() * Int(getpagesize()))
    }

    /// The second number of /proc/self/statm (proc(5)).
    private static func residentPages() -> Int {
        guard let bytes = try? readFile("/proc/self/statm", bytesMax: 4_096) else { return 0 }
        let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
    }
}
