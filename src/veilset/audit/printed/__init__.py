"""Steps of published algorithms that do not keep what they claim, each with the attack that shows it.

No method of the library runs these: they are here so that their failure can be seen, beside the repaired form
in the tests. Each is the printed step alone, on a small database and the same with one more transaction.

Three more leaks (Z7, S3, D1) have nothing to run, because what leaks is a person: DiffFIM's psi,
SplitSample's delta, lambda and l_opt, and DiffPart's C1 and C2 are tuned by hand on the raw data. What comes
out then depends on what somebody saw there and found reasonable: no test can draw from that law, and no
epsilon pays for it.
"""

from veilset.audit.printed import lee_clifton, liang, naming, xiong, zeng
from veilset.audit.printed.forms import PrintedForm

PRINTED: tuple[PrintedForm, ...] = (
    *zeng.ZENG_FORMS,
    *liang.LIANG_FORMS,
    *xiong.XIONG_FORMS,
    *lee_clifton.LEE_CLIFTON_FORMS,
    *naming.NAMING_FORMS,
)

__all__ = ["PRINTED", "PrintedForm"]
