package countersign

import "fmt"

// ArgumentInvalidError names an invalid argument and the expected value. It never contains the argument's value.
type ArgumentInvalidError struct {
	Argument string
	Expected string
}

func (e *ArgumentInvalidError) Error() string { return e.Argument + " " + e.Expected }

// RequestRefusedError is an error of the service (RFC 9457). A denial by policy is an answer, not an error.
type RequestRefusedError struct {
	// Code is the service's code, or UNKNOWN_REFUSAL for an error without a code, such as a proxy's.
	Code   string
	Status int
	// Detail is the service's message for developers.
	Detail string
	// RequestID is the call's id in the service's log.
	RequestID string
	// RetryAfterSeconds is the value of Retry-After; nil if the header is missing.
	RetryAfterSeconds *int
}

func (e *RequestRefusedError) Error() string {
	return fmt.Sprintf("%s (%s, status %d, request %s)", e.Detail, e.Code, e.Status, e.RequestID)
}

// ServiceUnreachableError means that there is no answer, because of a network failure or a timeout. Whether the service
// processed the request is unknown.
type ServiceUnreachableError struct {
	What      string
	RequestID string
	cause     error
}

func (e *ServiceUnreachableError) Error() string {
	return fmt.Sprintf("%s (request %s)", e.What, e.RequestID)
}

// Unwrap returns the network error, if any.
func (e *ServiceUnreachableError) Unwrap() error { return e.cause }

// AnswerInvalidError means that the answer is not one of this API, for example because of a wrong URL or a proxy that
// changed it.
type AnswerInvalidError struct {
	What      string
	RequestID string
}

func (e *AnswerInvalidError) Error() string {
	return fmt.Sprintf("the answer is not usable: %s (request %s)", e.What, e.RequestID)
}
