"""Who pays: budgets, and what samples and disjoint partitions cost."""
