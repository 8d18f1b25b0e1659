// RateLimiter
