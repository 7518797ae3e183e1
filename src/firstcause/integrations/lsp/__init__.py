"""The language server: what check says of a file while it is edited; needs the extra ``lsp``."""
