// Segmenter
