print("token-registry")
