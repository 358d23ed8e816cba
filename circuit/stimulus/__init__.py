"""Data on their way into a circuit: tables, signals in time, and the order in which they are
presented.
"""
