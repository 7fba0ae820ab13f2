package countersign

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func TestFarRetryAfterIsNotWorthWaitingFor(t *testing.T) {
	policy, err := RetryPolicy{}.complete()
	if err != nil {
		t.Fatal(err)
	}
	refused := &RequestRefusedError{
		Status:            http.StatusServiceUnavailable,
		RetryAfterSeconds: parseRetryAfter("Fri, 31 Dec 9999 23:59:59 GMT"),
	}
	if wait, worth := policy.delay(1, refused); worth {
		t.Errorf("a date in the year 9999 is waited for: %v", wait)
	}
	refused.Code = "IDEMPOTENCY_IN_FLIGHT"
	left, _ := twinInFlight(refused)
	if wait, worth := policy.twinDelay(0, 0, left); worth {
		t.Errorf("an earlier try is asked for again after %v", wait)
	}
}

func TestHugeRetryAfterOfABatchAnswerIsNoNegativeDelay(t *testing.T) {
	seconds := math.MaxInt64 / 1_000_000_000 * 2
	refused := &RequestRefusedError{Code: "IDEMPOTENCY_IN_FLIGHT", Status: 409, RetryAfterSeconds: &seconds}
	if _, retried := (RetryPolicy{MaxRetryAfter: time.Minute}).delay(1, refused); retried {
		t.Error("the call is retried")
	}
	if left, _ := twinInFlight(refused); left <= 0 {
		t.Errorf("the earlier attempt is left %v", left)
	}
}
