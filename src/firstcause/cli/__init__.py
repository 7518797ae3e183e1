"""The command line: one module a verb, loaded when it is chosen; only here is anything printed."""
