"""Areas with apical feedback, hierarchies of them, and several instructive areas onto one: exact
solutions.
"""
