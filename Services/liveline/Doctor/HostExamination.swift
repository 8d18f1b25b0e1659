import Crypto
import FoundationEssentials
import Service
import Store

/// Looks at what the host gives: directories, disk, clock, certificates.
struct HostExamination {
    /// Below so many bytes of free disk, or a quarter of the disk if that is less, the door soon says 503.
    static let diskLeast: Int64 = 256 << 20
    /// So many bytes are left to registrations, or an eighth of the disk if that is less (ingest's `IngestLimits`).
    static let diskReserve: Int64 = 16 << 20
    /// A certificate that ends within so many days is told.
    static let certificateDays: Int64 = 21
    /// How far in the future a file may have been written, seconds.
    static let aheadSeconds: Double = 60
    /// No clock is right before the program was made: 2025-01-01, UNIX seconds.
    static let earliestSeconds: Double = 1_735_689_600

    let configuration: Configuration
    let nowSeconds: Double

    var findings: [Finding] { data + clock + certificates }

    private var data: [Finding] {
        let directory = configuration.dataDirectory
        guard FileManager.default.fileExists(atPath: directory) else {
            return [
                Finding(
                    "\(directory): there is no such directory",
                    "start the services: they make it, if this user may")
            ]
        }
        var findings: [Finding] = []
        if !FileManager.default.isWritableFile(atPath: directory) {
            findings.append(
                Finding(
                    "\(directory) cannot be written by this user",
                    "run this as the user of the services, or chown it to that user"))
        }
        if PrivateFile.isOpenToOthers(directory) {
            findings.append(
                Finding(
                    "\(directory) is open to every user", "chmod 750 \(directory): tokens and keys are in it")
            )
        }
        return findings + disk(directory)
    }

    private func disk(_ directory: String) -> [Finding] {
        guard let disk = try? DiskSpace(at: directory),
            disk.freeBytes < min(Self.diskLeast, disk.sizeBytes / 4)
        else { return [] }
        return [Self.disk(directory, free: disk.freeBytes, size: disk.sizeBytes)]
    }

    /// Says that little disk is left.
    static func disk(_ directory: String, free: Int64, size: Int64) -> Finding {
        let reserve = min(diskReserve, size / 8)
        let isReached = free < reserve
        return Finding(
            "\(directory): \(mebibytes(free)) MiB of disk are free",
            "make room: calls \(isReached ? "are answered 503 now, since" : "will be answered 503 when") "
                + "less than \(mebibytes(reserve)) MiB are free; registrations are taken until nothing can be "
                + "written any more")
    }

    private static func mebibytes(_ bytes: Int64) -> String {
        bytes >= 10 << 20 ? "\(bytes >> 20)" : Numbers.fixed(Double(bytes) / 1_048_576, 1)
    }

    private var clock: [Finding] {
        if nowSeconds < Self.earliestSeconds {
            return [
                Finding(
                    "the clock says a time before 2025",
                    "set it, and keep it by NTP: APNs refuses tokens of another hour")
            ]
        }
        let directory = configuration.dataDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? []
        let ahead = names.filter { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            let written = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            return written > nowSeconds + Self.aheadSeconds
        }
        guard let first = ahead.first else { return [] }
        return [
            Finding(
                "\(directory)/\(first) was written in the future",
                "the clock was set back: set it right, and keep it by NTP; pace and expiry go by it")
        ]
    }

    var certificates: [Finding] {
        [
            ("http.certificateFile", configuration.http.certificateFile),
            ("apns.caFile", configuration.apns.caFile),
        ]
        .compactMap { member, file in
            guard let file, let text = FileManager.default.contents(atPath: file),
                let end = try? CertificateFile.validUntilSeconds(pem: [UInt8](text))
            else { return nil }
            return certificate("\(member): \(file)", days: (Double(end) - nowSeconds) / 86_400)
        }
    }

    private func certificate(_ name: String, days: Double) -> Finding? {
        guard days < Double(Self.certificateDays) else { return nil }
        let what = days < 0 ? "is valid no longer" : "is valid for \(Int(days)) more days"
        return Finding("\(name) \(what)", "renew it, then restart ingest (or, for apns.caFile, apns-gateway)")
    }
}

/// Numbers as file attributes give them, whichever Foundation made them.
enum FileNumber {
    /// The number; nil for what is none, or negative.
    static func read(_ value: Any?) -> UInt64? {
        value as? UInt64 ?? (value as? UInt).map(UInt64.init)
            ?? (value as? Int).flatMap { UInt64(exactly: $0) }
    }
}
