"""A service with one dataset, in a folder and a process of its own, for what is done to it from outside."""

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.error import URLError
from urllib.request import urlopen

from veilset.service.core import Service
from veilset.service.permissions import Principal
from veilset.service.registrations import Registration
from veilset.service.settings import ServiceSettings

OWNER = Principal("admin", "owner")
SERVER = """
import sys
from pathlib import Path
import uvicorn
from veilset.service.core import Service
from veilset.service.serve import make_server_app
from veilset.service.settings import ServiceSettings
settings = ServiceSettings.read(Path(sys.argv[1]))
uvicorn.run(make_server_app(Service(settings)), port=settings.port, log_level="error")
"""


@dataclass(frozen=True, slots=True)
class ServedSite:
    """Where the service is configured, its core in this process, and a token of its owner."""

    config: Path
    port: int
    service: Service
    token: str

    @classmethod
    def made(cls, port: int, *, release_every: float) -> Self:
        """A new folder with the dataset `stores`, of 20,000 baskets, and a budget that lasts."""
        config = Path(tempfile.mkdtemp(prefix="veilset-site-")) / "veilset.toml"
        config.write_text(f'[service]\nfolder = "service"\nport = {port}\nrelease_every = {release_every}\n')
        settings = ServiceSettings.read(config)
        service = Service(settings)
        service.people.first_password()
        token = service.people.make_token("admin", label="outside", scope="full", days=1)
        (settings.uploads / "baskets.dat").write_text("1 2 3\n" * 9000 + "2 3\n" * 8000 + "7\n" * 3000)
        told = Registration(file="baskets.dat", items="public", unit="transaction")
        service.register(OWNER, "stores", told, epsilon="1000", delta="0")
        return cls(config, port, service, token)

    def start(self) -> "subprocess.Popen[bytes]":
        """A server, when it answers."""
        process = subprocess.Popen([sys.executable, "-c", SERVER, str(self.config)])
        while True:
            try:
                urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5).close()
            except (URLError, OSError):
                time.sleep(0.1)
            else:
                return process

    def wait_until_ready(self) -> None:
        """Until a worker has read the dataset."""
        while self.service.catalogue.get("stores").state != "ready":
            time.sleep(0.2)
