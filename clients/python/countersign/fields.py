"""Reads answers field by field and checks their types. Unknown fields are ignored, because a newer service may send
more."""

from __future__ import annotations

import re
from typing import Any, List, Optional, Pattern, Sequence

from .errors import AnswerInvalidError

UUID_FORM = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Fields:
    """A JSON object of an answer. Each method raises AnswerInvalidError with the name of the field."""

    def __init__(self, value: Any, request_id: str, place: str = "") -> None:
        if not isinstance(value, dict):
            raise AnswerInvalidError(f"{place[:-1] or 'it'} is not an object", request_id)
        self._value = value
        self._request_id = request_id
        self._place = place

    def _fail(self, name: str, expected: str) -> AnswerInvalidError:
        return AnswerInvalidError(f"{self._place}{name} is not {expected}", self._request_id)

    def has(self, name: str) -> bool:
        return self._value.get(name) is not None

    def text(self, name: str) -> str:
        found = self._value.get(name)
        if not isinstance(found, str):
            raise self._fail(name, "text")
        return found

    def optional_text(self, name: str) -> Optional[str]:
        return self.text(name) if self.has(name) else None

    def flag(self, name: str) -> bool:
        found = self._value.get(name)
        if not isinstance(found, bool):
            raise self._fail(name, "true or false")
        return found

    def count(self, name: str) -> int:
        found = self._value.get(name)
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise self._fail(name, "a whole number")
        return found

    def one(self, name: str, choices: Sequence[str]) -> str:
        found = self.text(name)
        if found not in choices:
            raise self._fail(name, f"one of {', '.join(choices)}")
        return found

    def matching(self, name: str, form: Pattern[str]) -> str:
        found = self.text(name)
        if not form.fullmatch(found):
            raise self._fail(name, "of its form")
        return found

    def _list(self, name: str) -> List[Any]:
        found = self._value.get(name)
        if not isinstance(found, list):
            raise self._fail(name, "a list")
        return found

    def texts(self, name: str, form: Pattern[str]) -> List[str]:
        found = self._list(name)
        for item in found:
            if not isinstance(item, str) or not form.fullmatch(item):
                raise self._fail(name, "a list of texts of its form")
        return found

    def object(self, name: str) -> Fields:
        return Fields(self._value.get(name), self._request_id, f"{self._place}{name}.")

    def objects(self, name: str) -> List[Fields]:
        return [
            Fields(item, self._request_id, f"{self._place}{name}[{index}].")
            for index, item in enumerate(self._list(name))
        ]
