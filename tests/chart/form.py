"""The form of a value of the chart."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

# A whole reference with a tag or digest, or nothing for the bundle's own image.
Image = Annotated[str, Field(pattern=r"^$|^\S+(:[\w][\w.-]*|@sha256:[0-9a-f]{64})$")]
Name = Annotated[str, Field(pattern=r"^$|^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
Count = Annotated[int, Field(ge=1, le=1000)]
Words = dict[str, str]
Tree = dict[str, Any]


class Values(BaseModel):
    """Names in camel case, as Helm's are; an unknown one is an error."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_default=True,
    )
