"""What files are marked with that veilset writes and reads again."""

PUBLISHED_MARK = b"veilset.multiplicity"
"""In the metadata of a Parquet file that holds a published dataset: the column with the copies of each record."""

ENCODED_MARK = b"veilset.encoded"
"""In the metadata of an Arrow file that holds encoded transactions, raw data: the version of that format."""
