"""Several processes: who sees which data, who saves, who waits for whom."""
