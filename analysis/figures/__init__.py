"""All drawing: each function takes arrays and an optional ``ax``, returns the axes, and shows
nothing.
"""
