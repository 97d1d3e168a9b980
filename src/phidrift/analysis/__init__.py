"""What drift costs: degradation of F1, its correlation with every drift metric, and the main figures."""
