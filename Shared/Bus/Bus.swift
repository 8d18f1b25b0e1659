// Bus
