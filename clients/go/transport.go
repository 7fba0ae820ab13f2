package countersign

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

type transport struct {
	client *http.Client
	// timeout is the maximum duration of one attempt, from connecting to the last byte.
	timeout time.Duration
	retry   RetryPolicy
}

type call struct {
	method         string
	path           string
	body           any
	headers        map[string]string
	idempotencyKey string
}

type answer struct {
	status    int
	body      []byte
	requestID string
}

// do makes as many attempts as the policy permits, with the same request and Idempotency-Key, so that the service
// processes the call once.
func (t *transport) do(ctx context.Context, to *endpoint, asked call) (answer, error) {
	sent := request{method: asked.method, path: asked.path, headers: map[string]string{}, id: newUUID()}
	for name, text := range asked.headers {
		sent.headers[name] = text
	}
	if asked.body != nil {
		text, err := json.Marshal(asked.body)
		if err != nil {
			return answer{}, &ArgumentInvalidError{"request", "can not be written as JSON"}
		}
		sent.body = text
		sent.headers["content-type"] = "application/json"
	}
	if asked.idempotencyKey != "" {
		sent.headers["idempotency-key"] = asked.idempotencyKey
	}
	failures, twins := 0, 0
	var waited time.Duration
	for {
		got, err := t.tryOnce(ctx, to, sent)
		if err == nil || !isRetried(err) {
			return got, err
		}
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		var delay time.Duration
		var worth bool
		if left, is := twinInFlight(err); is && t.retry.Tries > 1 {
			delay, worth = t.retry.twinDelay(twins, waited, left)
			twins++
			waited += delay
		} else {
			failures++
			delay, worth = t.retry.delay(failures, err)
			worth = worth && failures < t.retry.Tries
		}
		if !worth {
			return answer{}, err
		}
		if err := wait(ctx, delay); err != nil {
			return answer{}, err
		}
	}
}

func (t *transport) tryOnce(ctx context.Context, to *endpoint, sent request) (answer, error) {
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	response, err := send(limited, t.client, to, sent)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	id := answeredID(response, sent.id)
	text, err := readAtMost(response.Body)
	if errors.Is(err, errAnswerTooLong) {
		return answer{}, &AnswerInvalidError{"it is too long", id}
	}
	if err != nil {
		return answer{}, &ServiceUnreachableError{"the answer was cut off", id, err}
	}
	if !json.Valid(text) {
		return answer{}, &AnswerInvalidError{"it is not JSON", id}
	}
	return answer{response.StatusCode, text, id}, nil
}

func newUUID() string {
	var made [16]byte
	if _, err := rand.Read(made[:]); err != nil {
		// Without randomness of the system, nothing safe can be sent.
		panic(err)
	}
	made[6] = made[6]&0x0f | 0x40
	made[8] = made[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", made[0:4], made[4:6], made[6:8], made[8:10], made[10:])
}
