"""The exact audit: how likely the same answers are on two neighbouring databases, from the noise that is really drawn.

Whatever leaves the gate was drawn by one of the decisions of `gate.draws`, from exact values and by a mechanism. The
audit runs a method, or a question, on two neighbouring databases at once and stands where these decisions are made. It
writes down the law of each on both databases, chooses one outcome for both, the one that tells most, and goes on. In
the end it has one transcript and its exact probability on either database; their ratio is a privacy loss that really
occurs, with no statistics about it. Where it is above e^epsilon, the claim is refuted.

And since both databases were answered alike, everything that was published must be the same to the last byte: itemsets,
supports, intervals, trace and notes. What differs has come past the gate.
"""
