"""Mutation testing of what guards the data: `make mutants` changes the gate, one place at a time, and runs the tests.

A change that no test notices is a survivor: either it changes nothing that anybody could see, and `equivalent.toml`
says why, or a test is missing. `operators` knows which changes there are, `changes` finds them in a module, `reach`
which tests run which lines, `tree` keeps private copies of the repository, `warm` runs tests in forks of a process
that has loaded everything else, `results` and `page` keep and tell what came out. `faults` does the same with faults
made by hand, each with what it would leak: `fault_list` has them.
"""
