"""How modules hold their parts, so that parameters, devices and checkpoints find them."""
