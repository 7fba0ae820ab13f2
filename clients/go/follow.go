package countersign

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// follow passes on a session's states over any number of connections. Each connection continues after the last event,
// and no state is passed on twice.
type follow struct {
	transport *transport
	endpoint  *endpoint
	path      string
	quiet     time.Duration
	tell      func(*SessionState) error

	lastID   string
	lastData string
	retry    time.Duration
	failures int
	isFinal  bool
}

// stopError is the error that the caller's function returned.
type stopError struct{ error }

func (f *follow) run(ctx context.Context) error {
	for {
		id := newUUID()
		err := f.connection(ctx, id)
		if f.isFinal {
			return nil
		}
		if stop, is := err.(stopError); is {
			return stop.error
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			err = &ServiceUnreachableError{"the stream ended", id, nil}
		}
		if !isRetried(err) {
			return err
		}
		f.failures++
		policy := f.transport.retry
		delay, worth := policy.delay(f.failures, err)
		// After the first event, a lost connection is reopened without a limit.
		if !worth || (f.lastData == "" && f.failures >= policy.Tries) {
			return err
		}
		hint := f.retry
		if hint > policy.MaxDelay {
			hint = policy.MaxDelay
		}
		if spread := hint/2 + random(hint/2); spread > delay {
			delay = spread
		}
		if err := wait(ctx, delay); err != nil {
			return err
		}
	}
}

// connection reads one connection to its end, and closes it after too long a silence.
func (f *follow) connection(outer context.Context, id string) error {
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	var isSilent atomic.Bool
	limit := time.AfterFunc(f.transport.timeout, func() {
		isSilent.Store(true)
		cancel()
	})
	defer limit.Stop()
	headers := map[string]string{"accept": "text/event-stream"}
	if f.lastID != "" {
		headers["last-event-id"] = f.lastID
	}
	response, err := send(ctx, f.transport.client, f.endpoint, request{method: "GET", path: f.path, headers: headers, id: id})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	kind, _, _ := strings.Cut(response.Header.Get("content-type"), ";")
	if response.StatusCode != http.StatusOK || !strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
		return &AnswerInvalidError{"it is not an event stream", id}
	}
	parser := &eventParser{lastID: f.lastID}
	buffer := make([]byte, 16*1024)
	for {
		limit.Reset(f.quiet)
		size, err := response.Body.Read(buffer)
		// The caller's work on an event does not count as silence of the service.
		limit.Stop()
		events, tooLong := parser.push(buffer[:size])
		if tooLong != nil {
			return &AnswerInvalidError{tooLong.Error(), id}
		}
		for _, got := range events {
			if err := f.take(got, parser.retry, id); err != nil || f.isFinal {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			what := "the stream was cut off"
			if isSilent.Load() {
				what = "the stream was silent"
			}
			return &ServiceUnreachableError{what, id, err}
		}
	}
}

func (f *follow) take(got event, retry time.Duration, id string) error {
	f.lastID = got.lastEventID
	if retry != 0 {
		f.retry = retry
	}
	// A new connection starts with the current status, which may be the last one passed on.
	if got.data == f.lastData {
		return nil
	}
	f.lastData = got.data
	f.failures = 0
	state, err := readSessionState([]byte(got.data), id)
	if err != nil {
		return err
	}
	if err := f.tell(state); err != nil {
		return stopError{err}
	}
	f.isFinal = state.Status.IsFinal()
	return nil
}
