"""Learners side by side on the same data, and judgements of how they compare.

All start from the same weights and see the same samples in the same order where they have the same
seed. All are compiled. Learning is timed on one thread, without compilation and without scoring.
"""
