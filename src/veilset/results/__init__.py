"""What may be published: releases, published datasets, their promise and what follows from them for free."""
