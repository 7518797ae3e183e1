"""Figures in other programs' formats: their histories read into a record, a record written for them."""
