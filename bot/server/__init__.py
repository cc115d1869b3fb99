"""For programs: OpenAI's chat completions and MCP, over the same engine."""
