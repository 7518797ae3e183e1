"""Models, tokenizers and trainers of the Hugging Face libraries."""
