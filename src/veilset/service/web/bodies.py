"""What the API takes and answers, with examples."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from veilset.request import MOST_IN_RELEASE
from veilset.service.asking import ReleaseAsk
from veilset.service.people import LONGEST_PASSWORD, LONGEST_TOKEN_DAYS, NAME_PATTERN, SHORTEST_PASSWORD

Name = Annotated[str, Field(pattern=NAME_PATTERN, examples=["stores"])]
NumberText = Annotated[str, Field(max_length=40, pattern=r"^[0-9][0-9./eE+-]*$", examples=["0.5", "1/3"])]
Word = Annotated[str, Field(max_length=100, pattern=r"^[^\x00-\x1f]*$")]


class Body(BaseModel):
    """What is not declared is refused."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What went wrong, what is allowed, what to do next."""

    error: str = Field(
        examples=["this request asks for epsilon 2, but of dataset 'stores' epsilon 1/2 is left of epsilon 4"]
    )


class Login(Body):
    """A name and a password."""

    name: Word = Field(examples=["anna"])
    password: str = Field(max_length=LONGEST_PASSWORD, examples=["correct horse battery"])


class NewToken(Body):
    """A token to make."""

    label: Word = Field(examples=["notebook"])
    scope: Literal["read", "ask", "full"] = "ask"
    days: float = Field(default=30, gt=0, le=LONGEST_TOKEN_DAYS)


class Token(BaseModel):
    """A token, told once."""

    token: str


class TokenRow(BaseModel):
    """A token as it is listed, without its secret."""

    id: str
    label: str
    scope: str
    made: float
    expires: float


class Me(BaseModel):
    """Who asks."""

    name: str
    role: str
    scope: str
    may: list[str]


class NewUser(Body):
    """A user to make."""

    name: Name
    role: Literal["owner", "analyst", "auditor"]
    password: str = Field(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)
    sees_releases: bool = Field(default=False, description="for an auditor: whether releases may be read")


class UserChange(Body):
    """What to change of a user."""

    role: Literal["owner", "analyst", "auditor"] | None = None
    is_active: bool | None = None
    sees_releases: bool | None = None
    password: str | None = Field(default=None, min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)


class UserRow(BaseModel):
    """A user as it is listed."""

    name: str
    role: str
    sees_releases: bool
    is_active: bool
    is_locked: bool


class NewDataset(Body):
    """A dataset to register: where its data is, who is protected, which items may be named, the budget."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "stores",
                    "file": "baskets.csv",
                    "items": "private",
                    "unit": "transaction",
                    "epsilon": "4",
                    "delta": "1e-6",
                },
                {
                    "name": "web",
                    "source": "query",
                    "connection": "shop",
                    "query": "SELECT customer, item FROM sales",
                    "owner": "customer",
                    "item": "item",
                    "items": "private",
                    "unit": "person",
                    "epsilon": "4",
                    "delta": "1e-6",
                    "same_people_as": ["stores"],
                },
            ]
        },
    )

    name: Name
    source: Literal["file", "folder", "query", "spark"] = "file"
    file: str = Field(default="", max_length=200, description="a file, or a folder, of the folders of data")
    connection: Word = Field(default="", description="for a query: a database of the settings, by its name")
    query: str = Field(default="", max_length=20_000, description="one SELECT, which only reads")
    path: Word = Field(default="", description="for spark: a path below one of the settings")
    same_people_as: list[Name] = Field(
        default=[],
        max_length=100,
        description="datasets that have people of this one: their budgets pay, too",
    )
    different_people: bool = Field(
        default=False, description="your word that nobody in this data is in another dataset"
    )
    items: Literal["list", "public", "private"]
    unit: Literal["transaction", "person"]
    epsilon: NumberText = Field(description="what all releases together may cost")
    delta: NumberText = Field(default="0", description="the same for delta, where items are found privately")
    title: Word = ""
    alphabet: str = Field(
        default="", max_length=2_000_000, description="for the rule list: a name on each line"
    )
    format: Literal["fimi", "spmf", "basket", "long", "list", "table", "onehot"] | None = None
    owner: Word | None = None
    basket: Word | None = None
    item: Word | None = None
    separator: Annotated[str, Field(max_length=3)] | None = None
    per_owner: int | None = Field(default=None, ge=1, le=10**6)
    rows: int | None = Field(
        default=None, ge=1, le=10**12, description="about how many transactions, if public"
    )
    number_of_items: int | None = Field(default=None, ge=1, le=10**8)
    length: float | None = Field(default=None, gt=0, le=10**6)


class SourceList(BaseModel):
    """What datasets can be made of."""

    files: list[str]
    folders: list[str]
    connections: list[str]
    spark_paths: list[str]


class AmountRow(BaseModel):
    """An epsilon and a delta, exactly."""

    epsilon: str
    delta: str


class BudgetRow(BaseModel):
    """What may be spent on a dataset, what was, what is left."""

    total: AmountRow
    spent: AmountRow
    left: AmountRow
    is_closed: bool


class DatasetRow(BaseModel):
    """A dataset."""

    name: str
    title: str
    state: str
    detail: str
    source: str = Field(description="where its data comes from; told to owners")
    unit: str
    items: str
    same_people_as: list[str]
    budget: BudgetRow
    allowance_left: AmountRow | None
    facts: dict[str, float]


class Allowance(Body):
    """What a user may spend on a dataset, in all; an epsilon of 0 takes it away."""

    epsilon: NumberText
    delta: NumberText = "0"


class Raise(Body):
    """A larger total, for a reason that stays in the ledger."""

    epsilon: NumberText | None = None
    delta: NumberText | None = None
    reason: str = Field(min_length=1, max_length=500, pattern=r"\S")


class ForecastRow(BaseModel):
    """What a release would be worth, from public facts alone; null where they are not known."""

    found: float | None = Field(
        description="the expected share of the true most frequent itemsets among those released"
    )
    relative_error: float | None = Field(
        description="what a released support is wrong by on average, as a part of it"
    )
    half_width: int | None = Field(description="of a 95 % interval, in transactions")
    assumption: str | None
    epsilon: str
    belief: str = Field(
        description="what somebody who was 50:50 about one person can at most believe afterwards"
    )
    left: AmountRow
    left_after: AmountRow
    is_affordable: bool


class NewRelease(Body):
    """A release to ask for."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"dataset": "stores", "epsilon": "0.5", "k": 100}]}
    )

    dataset: Name
    task: Literal["mine", "items", "publish"] = "mine"
    epsilon: NumberText
    k: int | None = Field(default=None, ge=1, le=MOST_IN_RELEASE)
    min_support: NumberText | None = None
    max_size: int | None = Field(default=None, ge=1, le=100)
    method: Annotated[str, Field(max_length=60)] | None = None
    delta: NumberText | None = None

    def ask(self) -> ReleaseAsk:
        """The same for the core."""
        return ReleaseAsk(**self.model_dump())


class ReleaseRow(BaseModel):
    """A request and what is told of it: waiting, done, failed, refused or cancelled."""

    id: str
    dataset: str
    task: str
    user: str
    request: dict[str, Any]
    epsilon: str
    delta: str
    state: Literal["waiting", "done", "failed", "refused", "cancelled"]
    requested: float
    told_at: float = Field(
        description="when its end is told, or could be next; results are told on a schedule"
    )
    message: str
    detail: str
    cancel_asked: bool


class LedgerState(BaseModel):
    """Whether the ledger is as it was written."""

    entries: int
    is_sound: bool
    flaws: list[str]


class NoiseState(BaseModel):
    """How the test of everything random went when the service started."""

    is_fine: bool | None
    tests: list[dict[str, Any]]
