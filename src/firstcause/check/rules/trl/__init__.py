"""Fine-tuning with trl: packing, templates and what is trained on."""
