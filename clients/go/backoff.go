package countersign

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// RetryPolicy configures retries: exponential backoff with full jitter, never before the service's Retry-After. Zero
// fields use the defaults.
type RetryPolicy struct {
	// Tries is the total number of attempts per call. Defaults to 6. Queries for an earlier attempt that still holds the
	// key do not count.
	Tries int
	// BaseDelay is the maximum of the first random delay, which doubles with each retry. Defaults to 250 ms.
	BaseDelay time.Duration
	// MaxDelay is the maximum random delay. Defaults to 10 s.
	MaxDelay time.Duration
	// MaxRetryAfter is the maximum accepted Retry-After. Defaults to 60 s.
	MaxRetryAfter time.Duration
}

const twinPoll = time.Second

func (p RetryPolicy) complete() (RetryPolicy, error) {
	if p.Tries < 0 || p.BaseDelay < 0 || p.MaxDelay < 0 || p.MaxRetryAfter < 0 {
		return p, &ArgumentInvalidError{"Retry", "must not be negative"}
	}
	if p.Tries == 0 {
		p.Tries = 6
	}
	if p.BaseDelay == 0 {
		p.BaseDelay = 250 * time.Millisecond
	}
	if p.MaxDelay == 0 {
		p.MaxDelay = 10 * time.Second
	}
	if p.MaxRetryAfter == 0 {
		p.MaxRetryAfter = time.Minute
	}
	return p, nil
}

func random(most time.Duration) time.Duration { return time.Duration(rand.Float64() * float64(most)) }

func doubled(base time.Duration, times int, most time.Duration) time.Duration {
	return time.Duration(math.Min(float64(base)*math.Pow(2, float64(times)), float64(most)))
}

// delay returns the delay after the given number of failures; false if the call should not be retried.
func (p RetryPolicy) delay(failures int, err error) (time.Duration, bool) {
	jitter := random(doubled(p.BaseDelay, failures-1, p.MaxDelay))
	var refused *RequestRefusedError
	if !errors.As(err, &refused) || refused.RetryAfterSeconds == nil {
		return jitter, true
	}
	after := refused.retryAfter()
	return after + jitter, after <= p.MaxRetryAfter
}

// twinDelay returns the delay before the next query for an earlier attempt that holds the key for left.
func (p RetryPolicy) twinDelay(asked int, waited, left time.Duration) (time.Duration, bool) {
	poll := doubled(twinPoll, asked, p.MaxDelay)
	if left < poll {
		poll = left
	}
	return poll + random(p.BaseDelay), waited+left <= p.MaxRetryAfter
}

// isRetried returns whether the same request may succeed later. 502 and 504 come from a proxy that got no response from
// the service.
func isRetried(err error) bool {
	var refused *RequestRefusedError
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return refused.Code == "IDEMPOTENCY_IN_FLIGHT"
	}
	var unreachable *ServiceUnreachableError
	return errors.As(err, &unreachable)
}

// twinInFlight returns how long an earlier attempt still holds the same key.
func twinInFlight(err error) (time.Duration, bool) {
	var refused *RequestRefusedError
	if errors.As(err, &refused) && refused.Code == "IDEMPOTENCY_IN_FLIGHT" && refused.RetryAfterSeconds != nil {
		return refused.retryAfter(), true
	}
	return 0, false
}

var secondsForm = regexp.MustCompile(`^[0-9]{1,9}$`)

// retryAfterMax is longer than any wait, and short enough for a time.Duration.
const retryAfterMax = 999_999_999

// retryAfter limits the value, which a batch answer can contain without any limit.
func (e *RequestRefusedError) retryAfter() time.Duration {
	return time.Duration(math.Min(retryAfterMax, math.Max(0, float64(*e.RetryAfterSeconds)))) * time.Second
}

// parseRetryAfter parses a number of seconds, or a date (RFC 9110 §10.2.3). Returns at most retryAfterMax.
func parseRetryAfter(header string) *int {
	if secondsForm.MatchString(header) {
		seconds, _ := strconv.Atoi(header)
		return &seconds
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return nil
	}
	seconds := int(math.Min(retryAfterMax, math.Max(0, math.Ceil(time.Until(date).Seconds()))))
	return &seconds
}

func wait(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
