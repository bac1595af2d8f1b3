"""The API for datasets: files, registrations, budgets, allowances."""

import shutil

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool

from veilset.errors import BadCall
from veilset.service.catalogue import RegisteredDataset
from veilset.service.core import Service
from veilset.service.permissions import Principal
from veilset.service.registrations import Registration
from veilset.service.spending import SpendingView
from veilset.service.web.api.people import user_row
from veilset.service.web.api.routing import FileInPath, NameInPath, api_router
from veilset.service.web.bodies import Allowance, DatasetRow, NewDataset, Raise, SourceList
from veilset.service.web.door import TheService, Who, needs
from veilset.writing import atomically

datasets_api = api_router("datasets")


@datasets_api.get("/files", **needs("datasets.manage"))
def list_files(service: TheService) -> list[str]:
    """The files that datasets can be made of."""
    return service.catalogue.files()["file"]


@datasets_api.get("/sources", **needs("datasets.manage"))
def list_sources(service: TheService) -> SourceList:
    """All that datasets can be made of: what the settings of the service allow, and nothing else."""
    return SourceList(**sources_of(service))


def sources_of(service: Service) -> dict[str, list[str]]:
    """Files and folders by name, databases by name, and where data may lie on a cluster."""
    found, settings = service.catalogue.files(), service.settings
    return {
        "files": found["file"],
        "folders": found["folder"],
        "connections": sorted(settings.connections),
        "spark_paths": list(settings.spark_paths),
    }


@datasets_api.put("/files/{name}", status_code=201, **needs("datasets.manage"))
async def upload_file(request: Request, who: Who, service: TheService, name: FileInPath) -> dict[str, str]:
    """Upload a file of data: its bytes are the body. One of the same name is not replaced."""
    path = service.settings.uploads / name
    if path.exists():
        raise BadCall("there is a file of this name already; take another name")
    left = service.settings.largest_upload_mb << 20
    with atomically(path) as part, part.open("wb") as file:
        async for chunk in request.stream():
            left -= len(chunk)
            if left < 0 or shutil.disk_usage(path.parent).free < len(chunk):
                raise HTTPException(413, "the file is larger than this service takes")
            file.write(chunk)
    await run_in_threadpool(service.events.note, "file uploaded", who=who.name)
    return {"file": name}


def dataset_row(
    service: Service, who: Principal, dataset: RegisteredDataset, spending: SpendingView | None = None
) -> DatasetRow:
    """A dataset as it is shown to somebody."""
    view = spending or service.spending()
    allowed = service.allowance_left(dataset.name, who.name, view)
    is_owner = who.role == "owner"
    return DatasetRow(
        name=dataset.name,
        title=dataset.told.title,
        state=dataset.state,
        detail=dataset.detail if is_owner else "",
        source=dataset.told.place if is_owner else "",
        unit=dataset.told.unit,
        items=dataset.told.items,
        same_people_as=list(dataset.told.same_people_as),
        budget=view.budget(dataset.name).to_dict(),  # type: ignore[arg-type]  # checked by its model
        allowance_left=None if allowed is None else allowed.to_dict(),  # type: ignore[arg-type]
        facts=service.facts(dataset.name, view),
    )


@datasets_api.get("/datasets", **needs("datasets.see"))
def list_datasets(who: Who, service: TheService) -> list[DatasetRow]:
    """The datasets that I have to do with."""
    return seen_datasets(service, who)


def seen_datasets(service: Service, who: Principal) -> list[DatasetRow]:
    """The datasets that somebody has to do with, with what is left of each at one moment."""
    view = service.spending()
    return [dataset_row(service, who, each, view) for each in service.catalogue.seen_by(who)]


@datasets_api.post("/datasets", status_code=201, **needs("datasets.manage"))
def register_dataset(who: Who, service: TheService, body: NewDataset) -> DatasetRow:
    """Register data as a dataset, with its budget; it is read by a worker.

    Where there are other datasets, say whether its people are in them, too.
    """
    told = Registration.of(body.model_dump(exclude={"name", "epsilon", "delta"}))
    service.register(who, body.name, told, epsilon=body.epsilon, delta=body.delta)
    return dataset_row(service, who, service.catalogue.get(body.name))


@datasets_api.get("/datasets/{name}", **needs("datasets.see"))
def one_dataset(who: Who, service: TheService, name: NameInPath) -> DatasetRow:
    """One dataset."""
    return dataset_row(service, who, service.seen_dataset(who, name))


@datasets_api.post("/datasets/{name}/read", status_code=202, **needs("datasets.manage"))
def read_dataset_again(who: Who, service: TheService, name: NameInPath) -> DatasetRow:
    """Have the data read once more, where it changed."""
    service.read_again(who, name)
    return dataset_row(service, who, service.catalogue.get(name))


@datasets_api.post("/datasets/{name}/total", **needs("datasets.manage"))
def raise_total(who: Who, service: TheService, name: NameInPath, body: Raise) -> DatasetRow:
    """Let more be spent on a dataset; the people in it then risk more."""
    dataset = service.catalogue.get(name)
    service.ledger.raise_total(
        name, epsilon=body.epsilon, delta=body.delta, reason=f"{who.name}: {body.reason}"
    )
    service.events.note("total raised", who=who.name, dataset=name)
    return dataset_row(service, who, dataset)


@datasets_api.post("/datasets/{name}/close", **needs("datasets.manage"))
def close_dataset(who: Who, service: TheService, name: NameInPath) -> DatasetRow:
    """Let nothing more be spent on a dataset, for good."""
    dataset = service.catalogue.get(name)
    service.ledger.close_dataset(name, reason=f"by {who.name}")
    service.events.note("dataset closed", who=who.name, dataset=name)
    return dataset_row(service, who, dataset)


@datasets_api.put("/datasets/{name}/allowances/{user}", **needs("datasets.manage"))
def set_allowance(
    who: Who, service: TheService, name: NameInPath, user: NameInPath, body: Allowance
) -> dict[str, str]:
    """What a user may spend on a dataset, in all."""
    user_row(service, user)
    amount = service.catalogue.allow(name, user, epsilon=body.epsilon, delta=body.delta)
    service.events.note("allowance set", who=who.name, dataset=name, user=user)
    return amount.to_dict()
