"""Who is tested: scripted agents, a model behind a chat-completions address, a command-line agent."""
