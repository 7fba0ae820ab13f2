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
	// lastEventID is the value for Last-Event-ID when the stream is continued; empty for none.
	lastEventID string
}

var errEventTooLong = errors.New("an event is too long")

// eventMaxBytes is far above the size of the service's events.
const eventMaxBytes = 1 << 16

var eventIDForm = regexp.MustCompile(`^[\x21-\x7e]{1,255}$`)

// eventParser parses events (WHATWG HTML §9.2.6): lines that end with CR, LF or both, in chunks of any size; comments;
// multiple data lines. An event is complete at its empty line.
type eventParser struct {
	// line is the unfinished line. It is never searched again, so that a slow server cannot make each byte cost more.
	line       []byte
	endsWithCR bool
	data       []string
	dataSize   int
	lastID     string
	begun      bool
	// retry is the reconnection delay that the server requests; 0 if it requests none.
	retry time.Duration
}

// push returns the events that these bytes complete.
func (p *eventParser) push(received []byte) ([]event, error) {
	var events []event
	for len(received) > 0 {
		if p.endsWithCR {
			// The first half of this line ending has ended the line.
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
		// A header could not contain this value.
		p.lastID = ""
		if eventIDForm.MatchString(text) {
			p.lastID = text
		}
	case name == "retry" && secondsForm.MatchString(text):
		milliseconds, _ := strconv.Atoi(text)
		p.retry = time.Duration(milliseconds) * time.Millisecond
	}
}
