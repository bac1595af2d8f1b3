"""What files of published datasets are marked with."""

PUBLISHED_MARK = b"veilset.multiplicity"
"""In the metadata of a Parquet file that holds a published dataset: the column with the copies of each record."""
