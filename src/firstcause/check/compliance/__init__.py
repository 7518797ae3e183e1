"""Instructions against facts: what is as asked, what deviates, what the code assumed."""
