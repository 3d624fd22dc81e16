"""The real Qwen Code."""
