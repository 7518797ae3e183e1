"""Reading code against what the user asked for, before it runs: findings, each with its rule, place and reason."""
