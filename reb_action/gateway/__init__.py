"""Model gateway: holds the API key outside the sandbox, counts model calls and enforces budgets."""
