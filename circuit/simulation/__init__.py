"""One run, from an initial state to its end: jobs for engines, what they record, events and
checkpoints.
"""
