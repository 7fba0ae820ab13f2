package countersign

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// event is one Server-Sent Event.
type event struct {
	data string
	// lastEventID is what Last-Event-ID says when the stream is taken up again; empty for none.
	lastEventID string
}

var errEventTooLong = errors.New("an event is too long")

// eventMaxBytes is far more than an event of the service has.
const eventMaxBytes = 1 << 16

var eventIDForm = regexp.MustCompile(`^[\x21-\x7e]{1,255}$`)

// eventParser reads events from bytes (WHATWG HTML §9.2.6): lines that end with CR, LF or both, wherever the network
// cuts them; comments; several data lines; an event counts only once its empty line is there.
type eventParser struct {
	// line has no end yet. It is never searched again, or a slow server could make each byte cost more.
	line       []byte
	endsWithCR bool
	data       []string
	dataSize   int
	lastID     string
	begun      bool
	// retry is how long the server wants its clients to wait before they come back; 0 unless it said so.
	retry time.Duration
}

// push gives the events that these bytes complete.
func (p *eventParser) push(received []byte) ([]event, error) {
	var events []event
	for len(received) > 0 {
		if p.endsWithCR {
			// The first half of this line end has ended the line.
			received = bytes.TrimPrefix(received, []byte("\n"))
			p.endsWithCR = false
			continue
		}
		end := bytes.IndexAny(received, "\r\n")
		if end < 0 {
			end = len(received)
		}
		p.line = append(p.line, received[:end]...)
		if len(p.line)+p.dataSize > eventMaxBytes {
			return nil, errEventTooLong
		}
		if end == len(received) {
			break
		}
		p.endsWithCR = received[end] == '\r'
		received = received[end+1:]
		line := string(p.line)
		p.line = p.line[:0]
		if !p.begun {
			line = strings.TrimPrefix(line, "\ufeff")
			p.begun = true
		}
		if line != "" {
			p.takeField(line)
		} else if len(p.data) > 0 {
			events = append(events, event{strings.ToValidUTF8(strings.Join(p.data, "\n"), "\ufffd"), p.lastID})
			p.data, p.dataSize = nil, 0
		}
	}
	return events, nil
}

func (p *eventParser) takeField(line string) {
	name, text, _ := strings.Cut(line, ":")
	text = strings.TrimPrefix(text, " ")
	switch {
	case name == "data":
		p.data = append(p.data, text)
		p.dataSize += len(text) + 1
	case name == "id":
		// What a header can't carry could not be sent back.
		p.lastID = ""
		if eventIDForm.MatchString(text) {
			p.lastID = text
		}
	case name == "retry" && secondsForm.MatchString(text):
		milliseconds, _ := strconv.Atoi(text)
		p.retry = time.Duration(milliseconds) * time.Millisecond
	}
}
