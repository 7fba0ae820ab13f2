// Package countersign is a client of Countersign for backends: policy attestations for EVM chains and Solana, and
// identity verification. Keep API keys in backends.
//
// Calls are retried if a retry can help, with the same Idempotency-Key. Errors are *RequestRefusedError,
// *ServiceUnreachableError, *AnswerInvalidError, *ArgumentInvalidError, or the context's error. A Client is safe for
// concurrent use.
package countersign

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// BatchSizeMax is the service's limit.
const BatchSizeMax = 1000

// keyMax is the service's limit for an Idempotency-Key.
const keyMax = 255

// batchKeyMax leaves room for an element's index after the key of its batch.
var batchKeyMax = keyMax - len(fmt.Sprintf("/%d", BatchSizeMax-1))

// Options configures a client. Leave the URL and key of an unused API empty.
type Options struct {
	AttestationURL    string
	AttestationAPIKey string
	IdentityURL       string
	IdentityAPIKey    string
	// Timeout is the maximum duration of one attempt. Defaults to 30 s, above the service's deadline of 25 s.
	Timeout time.Duration
	// Quiet is the time without data after which a followed stream is replaced by a new connection. Defaults to 45 s.
	Quiet time.Duration
	Retry RetryPolicy
	// HTTP sends the requests. Defaults to a separate client. Redirects are never followed, and its Timeout must be 0,
	// because a timeout would end streams.
	HTTP *http.Client
}

// Client calls the attestation and identity APIs.
type Client struct {
	attestation *endpoint
	identity    *endpoint
	transport   *transport
	quiet       time.Duration
}

// New creates a client, or returns an error that names the invalid option.
func New(options Options) (*Client, error) {
	attestation, err := newEndpoint("Attestation", options.AttestationURL, options.AttestationAPIKey)
	if err != nil {
		return nil, err
	}
	identity, err := newEndpoint("Identity", options.IdentityURL, options.IdentityAPIKey)
	if err != nil {
		return nil, err
	}
	retry, err := options.Retry.complete()
	if err != nil {
		return nil, err
	}
	if options.Timeout < 0 || options.Quiet < 0 {
		return nil, &ArgumentInvalidError{"Timeout", "must not be negative"}
	}
	if options.Timeout == 0 {
		options.Timeout = 30 * time.Second
	}
	if options.Quiet == 0 {
		options.Quiet = 45 * time.Second
	}
	carrier := http.Client{}
	if options.HTTP != nil {
		carrier = *options.HTTP
	}
	if carrier.Timeout != 0 {
		return nil, &ArgumentInvalidError{"HTTP", "must have no Timeout"}
	}
	carrier.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{attestation, identity, &transport{&carrier, options.Timeout, retry}, options.Quiet}, nil
}

func required(to *endpoint, name string) error {
	if to == nil {
		return &ArgumentInvalidError{name, "was not given to New"}
	}
	return nil
}

var keyForm = regexp.MustCompile(`^[\x21-\x7e]+$`)

// newKey returns a UUID of version 7 (RFC 9562). It starts with the time, so that the service's index of keys grows at
// its end.
func newKey() string {
	moment := fmt.Sprintf("%012x", time.Now().UnixMilli())
	return moment[:8] + "-" + moment[8:] + "-7" + newUUID()[15:]
}

// completeKey generates an Idempotency-Key if none is given.
func completeKey(given string, longest int) (string, error) {
	if given == "" {
		return newKey(), nil
	}
	if len(given) > longest || !keyForm.MatchString(given) {
		return "", &ArgumentInvalidError{"idempotencyKey", fmt.Sprintf("must be 1 to %d visible ASCII characters", longest)}
	}
	return given, nil
}

func (c *Client) attestationCall(ctx context.Context, path string, body any, key string) (answer, error) {
	if err := required(c.attestation, "AttestationURL"); err != nil {
		return answer{}, err
	}
	key, err := completeKey(key, keyMax)
	if err != nil {
		return answer{}, err
	}
	return c.transport.do(ctx, c.attestation, call{method: "POST", path: path, body: body, idempotencyKey: key})
}

// Attest evaluates a call or a wallet. A denial is an answer, not an error. If idempotencyKey is empty, the client
// generates one. Pass a key, such as the id of an order, to get the same answer after a restart of your program.
func (c *Client) Attest(ctx context.Context, asked AttestationRequest, idempotencyKey string) (*AttestationAnswer, error) {
	got, err := c.attestationCall(ctx, "/v2/attestation", asked.body(), idempotencyKey)
	if err != nil {
		return nil, err
	}
	return readAttestationAnswer(got)
}

// Task evaluates a call with the version 1 API: EVM chains, with a quorum of signatures.
func (c *Client) Task(ctx context.Context, asked TaskRequest, idempotencyKey string) (*TaskAnswer, error) {
	got, err := c.attestationCall(ctx, "/v1/task", asked.body(), idempotencyKey)
	if err != nil {
		return nil, err
	}
	return readTaskAnswer(got)
}

// AttestMany requests up to 1,000 attestations in one call, and returns their results in the order of the requests.
// Requests with a temporary error are retried alone, each with its own key. The maximum length of idempotencyKey is
// 251.
func (c *Client) AttestMany(ctx context.Context, asked []AttestationRequest, idempotencyKey string) ([]BatchResult, error) {
	if len(asked) < 1 || len(asked) > BatchSizeMax {
		return nil, &ArgumentInvalidError{"requests", fmt.Sprintf("must be 1 to %d requests", BatchSizeMax)}
	}
	if err := required(c.attestation, "AttestationURL"); err != nil {
		return nil, err
	}
	key, err := completeKey(idempotencyKey, batchKeyMax)
	if err != nil {
		return nil, err
	}
	open := make([]int, len(asked))
	for index := range asked {
		open[index] = index
	}
	results := make([]BatchResult, len(asked))
	for failures := 1; ; failures++ {
		read, err := c.batchOnce(ctx, asked, open, key)
		if err != nil {
			// Results of earlier attempts are returned to the caller. The other requests keep their last error.
			if failures == 1 || ctx.Err() != nil {
				return nil, err
			}
			return results, nil
		}
		var again []int
		var longest time.Duration
		for place, result := range read {
			results[open[place]] = result
			if result.Err == nil || !isRetried(result.Err) || failures >= c.transport.retry.Tries {
				continue
			}
			if delay, worth := c.transport.retry.delay(failures, result.Err); worth {
				again = append(again, open[place])
				if delay > longest {
					longest = delay
				}
			}
		}
		if len(again) == 0 {
			return results, nil
		}
		open = again
		if err := wait(ctx, longest); err != nil {
			return nil, err
		}
	}
}

func (c *Client) batchOnce(ctx context.Context, asked []AttestationRequest, open []int, key string) ([]BatchResult, error) {
	bodies := make([]attestationBody, len(open))
	for place, index := range open {
		bodies[place] = asked[index].body()
		bodies[place].IdempotencyKey = fmt.Sprintf("%s/%d", key, index)
	}
	body := map[string]any{"requests": bodies}
	got, err := c.transport.do(ctx, c.attestation, call{method: "POST", path: "/v2/attestations", body: body})
	if err != nil {
		return nil, err
	}
	return readBatch(got, len(open))
}

// Register creates a verification session for a person or a business, or returns the wallet's existing session.
func (c *Client) Register(ctx context.Context, kind SessionType, asked RegisterRequest, idempotencyKey string) (*RegisteredSession, error) {
	if err := required(c.identity, "IdentityURL"); err != nil {
		return nil, err
	}
	path, err := asked.path(kind)
	if err != nil {
		return nil, err
	}
	key, err := completeKey(idempotencyKey, keyMax)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	if asked.SandboxOutcome != "" {
		headers["countersign-sandbox-outcome"] = string(asked.SandboxOutcome)
	}
	got, err := c.transport.do(ctx, c.identity, call{"POST", path, asked.body(), headers, key})
	if err != nil {
		return nil, err
	}
	return readRegisteredSession(got)
}

// Status returns the current state of a session.
func (c *Client) Status(ctx context.Context, kind SessionType, sessionID string) (*SessionState, error) {
	if err := required(c.identity, "IdentityURL"); err != nil {
		return nil, err
	}
	path, err := statusPath("", kind, sessionID)
	if err != nil {
		return nil, err
	}
	got, err := c.transport.do(ctx, c.identity, call{method: "GET", path: path})
	if err != nil {
		return nil, err
	}
	return readSessionState(got.body, got.requestID)
}

// Follow passes the current status and then each change to tell, and returns nil after completed or rejected. A lost
// connection is continued after its last event. Follow ends with the error that tell returns, or with the context's
// error.
func (c *Client) Follow(ctx context.Context, kind SessionType, sessionID string, tell func(*SessionState) error) error {
	if err := required(c.identity, "IdentityURL"); err != nil {
		return err
	}
	path, err := statusPath("realtime/", kind, sessionID)
	if err != nil {
		return err
	}
	following := &follow{transport: c.transport, endpoint: c.identity, path: path, quiet: c.quiet, tell: tell}
	return following.run(ctx)
}

// Verify reports whether a wallet belongs to a verified identity. An empty kind matches both types. A contract address
// can have different owners on different chains: use VerifyOn for contract wallets.
func (c *Client) Verify(ctx context.Context, address string, kind SessionType) (*WalletVerification, error) {
	return c.VerifyOn(ctx, address, kind, "")
}

// VerifyOn is Verify for a wallet on the named chain: a contract wallet is verified only on the chain of its proof.
func (c *Client) VerifyOn(ctx context.Context, address string, kind SessionType, chain string) (*WalletVerification, error) {
	if err := required(c.identity, "IdentityURL"); err != nil {
		return nil, err
	}
	body := map[string]string{"address": address}
	if kind != "" {
		if err := kind.check(); err != nil {
			return nil, err
		}
		body["type"] = string(kind)
	}
	if chain != "" {
		body["chain"] = chain
	}
	got, err := c.transport.do(ctx, c.identity, call{method: "POST", path: "/api/v1/verify", body: body})
	if err != nil {
		return nil, err
	}
	return readWalletVerification(got)
}
