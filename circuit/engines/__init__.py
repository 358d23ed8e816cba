"""All that knows how a machine runs a circuit: Brian2 in this process, or a compiled program."""
