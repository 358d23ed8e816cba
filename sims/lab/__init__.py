"""The frame of every experiment: settings, run folder, checkpoints, processes, claims."""
