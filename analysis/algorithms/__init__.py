"""Learners side by side: the paper's two algorithms, and those that the paper compares them
with.
"""
