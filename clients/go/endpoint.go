package countersign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// endpoint is one of the service's two APIs: its URL, and the header with its key.
type endpoint struct {
	url    string
	header string
	key    string
}

var visibleForm = regexp.MustCompile(`^[\x21-\x7e]{1,512}$`)

// newEndpoint returns nil if URL and key are empty; the API can then not be used.
func newEndpoint(name, address, key string) (*endpoint, error) {
	if address == "" && key == "" {
		return nil, nil
	}
	if address == "" {
		return nil, &ArgumentInvalidError{name + "URL", "must be given with " + name + "APIKey"}
	}
	if key == "" {
		return nil, &ArgumentInvalidError{name + "APIKey", "must be given with " + name + "URL"}
	}
	// A pasted key with a line break or a space is not a valid header.
	if !visibleForm.MatchString(key) {
		return nil, &ArgumentInvalidError{name + "APIKey", "must be visible ASCII characters"}
	}
	parsed, err := url.Parse(address)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, &ArgumentInvalidError{name + "URL", "must be an http or https URL without a user, query or fragment"}
	}
	made := &endpoint{url: strings.TrimRight(address, "/"), header: "x-api-key", key: key}
	if name == "Identity" {
		made.header, made.key = "authorization", "Bearer "+key
	}
	return made, nil
}

type request struct {
	method string
	// path includes the query.
	path    string
	headers map[string]string
	body    []byte
	// id is the request id, the same for each attempt of a call.
	id string
}

// send waits for the head of the answer. The caller closes the body. Redirects are not followed, because they would
// forward the key.
func send(ctx context.Context, client *http.Client, to *endpoint, asked request) (*http.Response, error) {
	var body io.Reader
	if asked.body != nil {
		body = bytes.NewReader(asked.body)
	}
	sent, err := http.NewRequestWithContext(ctx, asked.method, to.url+asked.path, body)
	if err != nil {
		return nil, &ServiceUnreachableError{"the request can not be made", asked.id, err}
	}
	sent.Header.Set("accept", "application/json")
	for name, text := range asked.headers {
		sent.Header.Set(name, text)
	}
	sent.Header.Set(to.header, to.key)
	sent.Header.Set("x-request-id", asked.id)
	response, err := client.Do(sent)
	if err != nil {
		return nil, &ServiceUnreachableError{"the service cannot be reached", asked.id, err}
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	id := answeredID(response, asked.id)
	if response.StatusCode < 400 {
		return nil, &AnswerInvalidError{fmt.Sprintf("status %d", response.StatusCode), id}
	}
	return nil, readProblem(response, id)
}

func answeredID(response *http.Response, otherwise string) string {
	if id := response.Header.Get("x-request-id"); id != "" {
		return id
	}
	return otherwise
}

// answerBytesMax is the maximum size of an answer. The largest real answer, of a full batch, has a hundredth of this
// size.
const answerBytesMax = 16_777_216

var errAnswerTooLong = errors.New("the answer is too long")

func readAtMost(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, answerBytesMax+1))
	if err == nil && len(text) > answerBytesMax {
		return nil, errAnswerTooLong
	}
	return text, err
}

// readProblem uses the fields of a problem document; for any other body, only the status.
func readProblem(response *http.Response, id string) *RequestRefusedError {
	text, _ := readAtMost(response.Body)
	var problem map[string]any
	_ = json.Unmarshal(text, &problem)
	field := func(name, otherwise string) string {
		if found, is := problem[name].(string); is {
			return found
		}
		return otherwise
	}
	return &RequestRefusedError{
		Code:              field("code", "UNKNOWN_REFUSAL"),
		Status:            response.StatusCode,
		Detail:            field("detail", "the service refused the request without a reason"),
		RequestID:         field("request_id", id),
		RetryAfterSeconds: parseRetryAfter(response.Header.Get("retry-after")),
	}
}
