import Glibc
import Telemetry
import Web

/// Runs until a signal and returns the exit code.
func run(_ arguments: [String], _ logger: Logger) -> Int32 {
    do {
        let options = try SimulatorOptions(arguments)
        if options.showsHelp || options.showsVersion {
            writeToStandardOutput(Array((options.showsHelp ? Help.text : Help.version).utf8))
            return 0
        }
        let signals = Signals()
        let server = try SimulatorServer(options)
        server.announce(on: Logger(service: logger.service, sink: writeToStandardOutput))
        server.run(with: [signals], timeoutMilliseconds: .max / 2) { signals.take().contains(.stop) }
        server.close()
        return 0
    } catch let faults as SimulatorOptions.Faults {
        for message in faults.messages { logger.error("usage", ["fault": message]) }
        return 64
    } catch let fault as StartFault {
        logger.error("start", ["fault": fault.message])
        return fault.exitCode
    } catch {
        logger.error("start", ["fault": "\(error)"])
        return 70
    }
}

exit(run(Array(CommandLine.arguments.dropFirst()), Logger(service: "apns-simulator")))
