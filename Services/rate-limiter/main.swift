print("rate-limiter")
