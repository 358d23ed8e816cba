"""The commands of ``biorrr`` that are no experiments, and settings as options."""
