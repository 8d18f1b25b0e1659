import Glibc

exit(Subcommands.run(Array(CommandLine.arguments.dropFirst()), on: .standard))
