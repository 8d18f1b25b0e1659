print("segmenter")
