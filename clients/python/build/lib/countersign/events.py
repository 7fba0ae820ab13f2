"""Server-Sent Events from bytes (WHATWG HTML §9.2.6): lines that end with CR, LF or both, wherever the network cuts
them; comments; several data lines; an event counts only once its empty line is there."""

from __future__ import annotations

import codecs
import re
from typing import List, NamedTuple, Optional

#: More than this without an event: it is not a stream of this service.
_EVENT_MAX_CHARACTERS = 1_048_576


class Event(NamedTuple):
    data: str
    #: What ``Last-Event-ID`` says when the stream is taken up again.
    last_event_id: Optional[str]


class EventTooLongError(ValueError):
    """Bytes without an end of an event."""


class EventParser:
    def __init__(self, last_event_id: Optional[str] = None) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._data: List[str] = []
        self._data_length = 0
        self._id = last_event_id
        self._is_first = True
        #: How long the server wants its clients to wait before they come back; None unless it said so.
        self.retry_seconds: Optional[float] = None

    def push(self, received: bytes) -> List[Event]:
        """The events that these bytes complete."""
        text = self._rest + self._decoder.decode(received)
        if self._is_first and text:
            text = text.removeprefix("\ufeff")
            self._is_first = False
        # A CR at the very end may be half of a line end that the next bytes complete.
        end = len(text) - 1 if text.endswith("\r") else len(text)
        *lines, last = re.split(r"\r\n|\n|\r", text[:end])
        self._rest = last + text[end:]
        events: List[Event] = []
        for line in lines:
            if line:
                self._take_field(line)
            elif self._data:
                events.append(Event("\n".join(self._data), self._id))
                self._data = []
                self._data_length = 0
        if len(self._rest) + self._data_length > _EVENT_MAX_CHARACTERS:
            raise EventTooLongError("an event without an end")
        return events

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
