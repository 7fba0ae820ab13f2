package countersign

import "fmt"

// ArgumentInvalidError says which argument can't be used, and what is expected. It never holds the argument's value.
type ArgumentInvalidError struct {
	Argument string
	Expected string
}

func (e *ArgumentInvalidError) Error() string { return e.Argument + " " + e.Expected }

// RequestRefusedError is an error of the service (RFC 9457). A denial by policy is an answer and no error.
type RequestRefusedError struct {
	// Code is the service's own, or UNKNOWN_REFUSAL for an error without a code, as a proxy in between answers.
	Code   string
	Status int
	// Detail holds the service's words, meant for developers.
	Detail string
	// RequestID is the id under which the service's log knows the call.
	RequestID string
	// RetryAfterSeconds is from Retry-After; nil without one.
	RetryAfterSeconds *int
}

func (e *RequestRefusedError) Error() string {
	return fmt.Sprintf("%s (%s, status %d, request %s)", e.Detail, e.Code, e.Status, e.RequestID)
}

// ServiceUnreachableError says that there is no answer: the network failed, or it took too long. Whether the service
// acted on the request is not known.
type ServiceUnreachableError struct {
	What      string
	RequestID string
	cause     error
}

func (e *ServiceUnreachableError) Error() string {
	return fmt.Sprintf("%s (request %s)", e.What, e.RequestID)
}

// Unwrap gives the network's error, where there is one.
func (e *ServiceUnreachableError) Unwrap() error { return e.cause }

// AnswerInvalidError is an answer that is not what this API answers: a wrong address, or something in between that
// changed it.
type AnswerInvalidError struct {
	What      string
	RequestID string
}

func (e *AnswerInvalidError) Error() string {
	return fmt.Sprintf("the answer is not usable: %s (request %s)", e.What, e.RequestID)
}
