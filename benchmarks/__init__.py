"""Speed and memory, as ratios in one run against named peers."""
