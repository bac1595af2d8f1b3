"""Notes that several methods put on their releases."""

CHOSEN_BY_THE_SAME_NOISE = (
    "itemsets were chosen by the same noisy supports that are shown, "
    "so those that just made it are rather too high"
)
