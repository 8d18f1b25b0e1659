internal import COpenSSL

/// One block of a PEM text, decoded but not interpreted.
struct PEMBlock {
    let label: String
    /// The block has headers that say its bytes are encrypted (RFC 1421), as the older key forms do.
    let isEncrypted: Bool
    let bytes: [UInt8]
}

enum PEM {
    /// Reads all blocks in order; it never asks for a password.
    static func blocks(in text: [UInt8]) -> [PEMBlock] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let plain = text.starts(with: mark) ? [UInt8](text.dropFirst(mark.count)) : text
        defer { CryptoError.forgetErrors() }
        return unsafe plain.withUnsafeBytes { bytes in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
                return []
            }
            defer { unsafe BIO_free(source) }
            var blocks: [PEMBlock] = []
            while let block = unsafe next(source) { blocks.append(block) }
            return blocks
        }
    }

    private static func next(_ source: OpaquePointer) -> PEMBlock? {
        var label: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard unsafe PEM_read_bio(source, &label, &header, &data, &count) == 1,
            let foundLabel = unsafe label, let foundHeader = unsafe header, let foundData = unsafe data
        else { return nil }
        defer {
            unsafe liveline_free(foundLabel)
            unsafe liveline_free(foundHeader)
            unsafe liveline_clear_free(foundData, count)
        }
        return unsafe PEMBlock(
            label: String(cString: foundLabel),
            isEncrypted: String(cString: foundHeader).contains("ENCRYPTED"),
            bytes: [UInt8](UnsafeBufferPointer(start: foundData, count: count)))
    }

    /// Collects what a writer puts into a memory sink; nil when it fails.
    static func text(_ write: (OpaquePointer) -> Int32) -> String? {
        guard let sink = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(sink) }
        guard unsafe write(sink) == 1 else { return nil }
        var start: UnsafePointer<CChar>?
        let count = unsafe liveline_bio_bytes(sink, &start)
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
