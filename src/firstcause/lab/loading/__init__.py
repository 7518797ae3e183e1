"""The user's own loader, asked sample by sample in a sealed process: which one raises, dies, hangs, or differs."""
