"""Generation and inference engines: built once, fed in batches, asked in the way the model was trained for."""
