"""Rankings: of metrics by how well they agree with human scores, and of systems under several conditions."""
