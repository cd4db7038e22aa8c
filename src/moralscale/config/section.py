"""What every section of the configuration is, and the kinds of values that several have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

#: Names that become file names: nothing that could leave the results folder.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
#: A code as of BCP 47: en, fr, pt-BR.
LANGUAGE_PATTERN = r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"


def _ascending(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] >= bounds[1]:
        raise ValueError(f"{bounds[0]:g} is not below {bounds[1]:g}; write the lower bound first")
    return bounds


def distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a value that stands twice."""
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"'{value}' is named twice; name it once")
    return values


def _is_number(kind: Any) -> bool:
    return kind in (int, float) or any(map(_is_number, get_args(kind)))


def _is_language(code: str) -> str:
    if not re.fullmatch(LANGUAGE_PATTERN, code):
        raise ValueError(f"'{code}' is no code of a language; write one such as en or fr")
    return code


Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=64)]
Positive = Annotated[float, Field(gt=0)]
Interval = Annotated[
    tuple[float, float], Field(description="Lower and upper bound."), AfterValidator(_ascending)
]
Names = Annotated[tuple[Name, ...], AfterValidator(distinct)]
Language = Annotated[str, AfterValidator(_is_language)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors, values cannot change."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, serialize_by_alias=True
    )

    @model_validator(mode="before")
    @classmethod
    def _over_defaults(cls, given: Any) -> Any:
        """Complete what is given of a part by the defaults that the part has here.

        A sampler of refits has other defaults than one of fits, and keeps them where one key of it
        is given.
        """
        if not isinstance(given, Mapping):
            return given
        completed = dict(given)
        for name, field in cls.model_fields.items():
            here, default = completed.get(field.alias or name), field.default
            if isinstance(default, Section) and isinstance(here, Mapping):
                completed[field.alias or name] = {
                    **default.model_dump(exclude_unset=True),
                    **here,
                }
        return completed

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse `yes` where a number is meant, which would count as 1."""
        if isinstance(value, bool) and info.field_name is not None:
            if _is_number(cls.model_fields[info.field_name].annotation):
                raise ValueError(f"{str(value).lower()} is no number; write one")
        return value
