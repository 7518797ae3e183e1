"""Runs and cases as pages: their data as JSON, the one page that shows it, served on this machine or in one file."""
