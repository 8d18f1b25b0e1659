// The wiring follows with the shared runner.
