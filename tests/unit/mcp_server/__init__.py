"""Tests of firstcause.mcp; a package named mcp here would stand before the SDK of that name."""
