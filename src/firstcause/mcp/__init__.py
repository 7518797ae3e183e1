"""The gate for coding agents: a server of tools that refuse what comes before its time, and none that approves."""
