package countersign

import (
	"encoding/json"
	"regexp"
)

var (
	uuidForm          = regexp.MustCompile(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	evmAddressForm    = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	attesterForm      = regexp.MustCompile(`^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$`)
	signatureForm     = regexp.MustCompile(`^0x(?:[0-9a-fA-F]{130}|[0-9a-fA-F]{128})$`)
	taskSignatureForm = regexp.MustCompile(`^0x[0-9a-fA-F]{130}$`)
	urlForm           = regexp.MustCompile(`^https?://\S+$`)
	pngForm           = regexp.MustCompile(`^data:image/png;base64,[A-Za-z0-9+/]+={0,2}$`)
	anyForm           = regexp.MustCompile(``)
)

// fields checks an answer's fields and keeps the first error.
type fields struct {
	requestID string
	err       error
}

// decode parses an answer into a struct. Unknown fields are ignored, because a newer service may send more.
func (f *fields) decode(body []byte, into any) {
	if err := json.Unmarshal(body, into); err != nil {
		f.fail("it is not of its form")
	}
}

func (f *fields) fail(what string) {
	if f.err == nil {
		f.err = &AnswerInvalidError{what, f.requestID}
	}
}

// text returns a field that must exist and match its form.
func (f *fields) text(name string, found *string, form *regexp.Regexp) string {
	if found == nil || !form.MatchString(*found) {
		f.fail(name + " is not of its form")
		return ""
	}
	return *found
}

func (f *fields) flag(name string, found *bool) bool {
	if found == nil {
		f.fail(name + " is not true or false")
		return false
	}
	return *found
}

func (f *fields) count(name string, found *int64) int64 {
	if found == nil || *found < 0 {
		f.fail(name + " is not a whole number")
		return 0
	}
	return *found
}

func (f *fields) one(name string, found *string, choices ...string) string {
	for _, choice := range choices {
		if found != nil && *found == choice {
			return choice
		}
	}
	f.fail(name + " is not one of its values")
	return ""
}
