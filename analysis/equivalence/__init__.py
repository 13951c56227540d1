"""Whether scores stay put between two conditions: equivalence tests that respect documents and annotators."""
