package countersign

import (
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

var errEventTooLong = errors.New("an event without an end")

const eventMaxBytes = 1 << 20

var (
	eventIDForm = regexp.MustCompile(`^[\x21-\x7e]{1,255}$`)
	lineEnd     = regexp.MustCompile("\r\n|\n|\r")
)

// eventParser reads events from bytes (WHATWG HTML §9.2.6): lines that end with CR, LF or both, wherever the network
// cuts them; comments; several data lines; an event counts only once its empty line is there.
type eventParser struct {
	rest     string
	data     []string
	dataSize int
	lastID   string
	begun    bool
	// retry is how long the server wants its clients to wait before they come back; 0 unless it said so.
	retry time.Duration
}

// push gives the events that these bytes complete.
func (p *eventParser) push(received []byte) ([]event, error) {
	text := p.rest + string(received)
	if !p.begun && len(text) >= 3 {
		text = strings.TrimPrefix(text, "\ufeff")
		p.begun = true
	}
	// A CR at the very end may be half of a line end that the next bytes complete.
	end := len(text)
	if strings.HasSuffix(text, "\r") {
		end--
	}
	lines := lineEnd.Split(text[:end], -1)
	p.rest = lines[len(lines)-1] + text[end:]
	var events []event
	for _, line := range lines[:len(lines)-1] {
		if line != "" {
			p.takeField(line)
		} else if len(p.data) > 0 {
			events = append(events, event{strings.ToValidUTF8(strings.Join(p.data, "\n"), "\ufffd"), p.lastID})
			p.data, p.dataSize = nil, 0
		}
	}
	if len(p.rest)+p.dataSize > eventMaxBytes {
		return nil, errEventTooLong
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
