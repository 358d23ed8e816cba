"""From parts to a program: what happens within a tick, in order, for circuits of known sizes."""
