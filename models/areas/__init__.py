"""Areas with apical feedback: their parts, how they settle, and their equilibrium."""
