"""Parses Server-Sent Events (WHATWG HTML §9.2.6): lines that end with CR, LF or both, in chunks of any size; comments;
multiple data lines. An event is complete at its empty line."""

from __future__ import annotations

import codecs
import re
from typing import List, NamedTuple, Optional

#: Far above the size of the service's events.
_EVENT_MAX_CHARACTERS = 65_536


class Event(NamedTuple):
    data: str
    #: Value of ``Last-Event-ID`` when the stream is continued.
    last_event_id: Optional[str]


class EventTooLongError(ValueError):
    """The stream is not a stream of this service."""


class EventParser:
    def __init__(self, last_event_id: Optional[str] = None) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        #: Pieces of the unfinished line. They are never searched again, so that a slow server cannot make each byte
        #: cost more.
        self._pieces: List[str] = []
        self._line_length = 0
        self._ends_with_cr = False
        self._data: List[str] = []
        self._data_length = 0
        self._id = last_event_id
        self._is_first = True
        #: Reconnection delay that the server requests; None if it requests none.
        self.retry_seconds: Optional[float] = None

    def push(self, received: bytes) -> List[Event]:
        """Returns the events that these bytes complete."""
        text = self._decoder.decode(received)
        if not text:
            return []
        if self._is_first:
            text = text.removeprefix("\ufeff")
            self._is_first = False
        elif self._ends_with_cr:
            # The first half of this line ending has ended the line.
            text = text.removeprefix("\n")
        self._ends_with_cr = text.endswith("\r")
        *lines, last = re.split(r"\r\n|\n|\r", text)
        events: List[Event] = []
        for end in lines:
            self._extend_line(end)
            line = "".join(self._pieces)
            self._pieces, self._line_length = [], 0
            if line:
                self._take_field(line)
            elif self._data:
                events.append(Event("\n".join(self._data), self._id))
                self._data = []
                self._data_length = 0
        self._extend_line(last)
        return events

    def _extend_line(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._line_length += len(text)
        if self._line_length + self._data_length > _EVENT_MAX_CHARACTERS:
            raise EventTooLongError("an event is too long")

    def _take_field(self, line: str) -> None:
        name, _, text = line.partition(":")
        text = text.removeprefix(" ")
        if name == "data":
            self._data.append(text)
            self._data_length += len(text) + 1
        elif name == "id":
            # A header could not contain this value.
            self._id = text if re.fullmatch(r"[\x21-\x7e]{1,255}", text) else None
        elif name == "retry" and re.fullmatch(r"[0-9]{1,9}", text):
            self.retry_seconds = int(text) / 1000
