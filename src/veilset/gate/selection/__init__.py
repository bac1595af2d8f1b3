"""How one of many candidates is drawn under differential privacy: exact laws, no floating-point decisions."""
