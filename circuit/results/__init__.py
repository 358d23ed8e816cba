"""Results of runs and views of circuits: datasets, files, figures, graphs and descriptions."""
