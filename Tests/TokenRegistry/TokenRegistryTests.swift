// TokenRegistry
