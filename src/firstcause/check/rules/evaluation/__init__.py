"""Figures of an evaluation: over the right dimension, over all samples, of the right thing."""
