// APNsGateway
