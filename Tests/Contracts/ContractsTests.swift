// Contracts
