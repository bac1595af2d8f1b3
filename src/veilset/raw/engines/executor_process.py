"""What a Python process of an executor need not do again before each task: measured, most of what a small task costs.

Spark lets such a process do one task after another. Before each it invalidates all caches of imports, for which Python
reads the whole directory of `pyspark.zip` as often as that file has been looked into; after each it looks for garbage
among all objects of all modules that were imported. Both take about 0.1 s of a core with Python 3.11.
"""

import gc
import sys
import zipimport


def make_tasks_light() -> None:
    """In a process that Spark has forked, and nowhere else: forget importers of zip files, and spare what is imported.

    A module that is imported later finds its zip file again. Modules that are there now are never garbage.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if main is None or main.name != "pyspark.daemon":
        return
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimport.zipimporter):
            del sys.path_importer_cache[path]
    if gc.get_freeze_count() == 0:
        gc.freeze()
