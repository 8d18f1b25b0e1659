print("apns-simulator")
