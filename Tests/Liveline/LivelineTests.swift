// Liveline
