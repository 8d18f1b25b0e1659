print("apns-gateway")
