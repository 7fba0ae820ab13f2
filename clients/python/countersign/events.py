"""Server-Sent Events from bytes (WHATWG HTML §9.2.6): lines that end with CR, LF or both, wherever the network cuts
them; comments; several data lines; an event counts only once its empty line is there."""

from __future__ import annotations

import codecs
import re
from typing import List, NamedTuple, Optional

#: The service's events have a few kilobytes.
_EVENT_MAX_CHARACTERS = 65_536


class Event(NamedTuple):
    data: str
    #: What ``Last-Event-ID`` says when the stream is taken up again.
    last_event_id: Optional[str]


class EventTooLongError(ValueError):
    """The stream is not one of this service."""


class EventParser:
    def __init__(self, last_event_id: Optional[str] = None) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        #: The pieces of the line that has no end yet. They are never searched again, or a slow server could make each
        #: byte cost more.
        self._pieces: List[str] = []
        self._line_length = 0
        self._ends_with_cr = False
        self._data: List[str] = []
        self._data_length = 0
        self._id = last_event_id
        self._is_first = True
        #: How long the server wants its clients to wait before they come back; None unless it said so.
        self.retry_seconds: Optional[float] = None

    def push(self, received: bytes) -> List[Event]:
        """The events that these bytes complete."""
        text = self._decoder.decode(received)
        if not text:
            return []
        if self._is_first:
            text = text.removeprefix("\ufeff")
            self._is_first = False
        elif self._ends_with_cr:
            # The first half of this line end has ended the line.
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
            # What a header can't carry could not be sent back.
            self._id = text if re.fullmatch(r"[\x21-\x7e]{1,255}", text) else None
        elif name == "retry" and re.fullmatch(r"[0-9]{1,9}", text):
            self.retry_seconds = int(text) / 1000
