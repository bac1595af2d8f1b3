"""All benchmarks, one after the other: `make bench`."""

from benchmarks import counting, end_to_end, exact_mining, reading

for benchmark in (reading, exact_mining, end_to_end, counting):
    print(f"\n{(benchmark.__doc__ or '').splitlines()[0]}\n")
    benchmark.main()
