package countersign

import (
	"net/http"
	"testing"
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
