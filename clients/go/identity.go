package countersign

import "strconv"

// SessionType is KYC (Individual) or KYB (Business).
type SessionType string

// The two kinds of verification sessions.
const (
	Individual SessionType = "individual"
	Business   SessionType = "business"
)

// SessionStatus is one of the five below.
type SessionStatus string

// A session is followed up to StatusCompleted or StatusRejected.
const (
	StatusPending   SessionStatus = "pending"
	StatusSubmitted SessionStatus = "submitted"
	StatusCompleted SessionStatus = "completed"
	StatusRejected  SessionStatus = "rejected"
	StatusRetry     SessionStatus = "retry"
)

// IsFinal says whether the session changes no more by itself.
func (s SessionStatus) IsFinal() bool { return s == StatusCompleted || s == StatusRejected }

var statuses = []string{"pending", "submitted", "completed", "rejected", "retry"}

// RegisterRequest may be empty.
type RegisterRequest struct {
	// WalletAddress is the only wallet that may connect and verify in the session.
	WalletAddress string
	// OriginURL is absolute https: where the verification page offers to go back to.
	OriginURL string
	// Size of the QR code in pixels, 80 to 2000; 300 when it is 0.
	Size int
	// SandboxOutcome, with a test key, is what becomes of the session at once.
	SandboxOutcome SessionStatus
}

// RegisteredSession is a new session, or one that could be used again.
type RegisteredSession struct {
	SessionID string
	// RedirectURL is for the end user.
	RedirectURL string
	// QRCode is a PNG in a data URI: an image source.
	QRCode string
	Reused bool
}

// SessionWallet is a wallet that the person connected.
type SessionWallet struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	Chain   string `json:"chain"`
}

// SessionState is where a session stands.
type SessionState struct {
	SessionID string
	Status    SessionStatus
	// UserID is empty until the session has an identity.
	UserID string
	// CompletedAt is ISO 8601, and empty unless completed.
	CompletedAt string
	// VerifiedWallets is filled only when completed, else UnverifiedWallets is.
	VerifiedWallets   []SessionWallet
	UnverifiedWallets []SessionWallet
}

// VerifiedWallet is a wallet of a verified identity.
type VerifiedWallet struct {
	Address string `json:"address"`
	Chain   string `json:"chain"`
}

// WalletVerification of an unknown wallet is empty throughout, also where the service left the fields out.
type WalletVerification struct {
	Address  string
	Verified bool
	// Status of the most recent session; empty for a wallet never seen.
	Status SessionStatus
	UserID string
	// CheckType is kyc or kyb, or empty.
	CheckType string
	// VerifiedAt is ISO 8601.
	VerifiedAt string
	// Wallets of the same identity, at levels that count.
	Wallets []VerifiedWallet
}

func (t SessionType) check() error {
	if t != Individual && t != Business {
		return &ArgumentInvalidError{"sessionType", "must be individual or business"}
	}
	return nil
}

func (r RegisterRequest) path(kind SessionType) (string, error) {
	if r.Size != 0 && (r.Size < 80 || r.Size > 2000) {
		return "", &ArgumentInvalidError{"Size", "must be a whole number from 80 to 2000"}
	}
	path := "/api/v1/register/" + string(kind)
	if r.Size != 0 {
		path += "?size=" + strconv.Itoa(r.Size)
	}
	return path, kind.check()
}

// body is nil when there is nothing to say: then none is sent.
func (r RegisterRequest) body() any {
	body := map[string]string{}
	if r.WalletAddress != "" {
		body["walletAddress"] = r.WalletAddress
	}
	if r.OriginURL != "" {
		body["originUrl"] = r.OriginURL
	}
	if len(body) == 0 {
		return nil
	}
	return body
}

func statusPath(realtime string, kind SessionType, sessionID string) (string, error) {
	if !uuidForm.MatchString(sessionID) {
		return "", &ArgumentInvalidError{"sessionID", "must be a UUID"}
	}
	return "/api/v1/status/" + realtime + string(kind) + "/" + sessionID, kind.check()
}

func readRegisteredSession(got answer) (*RegisteredSession, error) {
	check := &fields{requestID: got.requestID}
	var found struct {
		SessionID   *string `json:"sessionId"`
		RedirectURL *string `json:"redirectUrl"`
		QRCode      *string `json:"qrCode"`
	}
	check.decode(got.body, &found)
	read := &RegisteredSession{
		SessionID:   check.text("sessionId", found.SessionID, uuidForm),
		RedirectURL: check.text("redirectUrl", found.RedirectURL, urlForm),
		QRCode:      check.text("qrCode", found.QRCode, pngForm),
		Reused:      got.status == 200,
	}
	if check.err != nil {
		return nil, check.err
	}
	return read, nil
}

func readSessionState(body []byte, requestID string) (*SessionState, error) {
	check := &fields{requestID: requestID}
	var found struct {
		SessionID         *string         `json:"sessionId"`
		Status            *string         `json:"status"`
		UserID            string          `json:"userId"`
		CompletedAt       string          `json:"completedAt"`
		VerifiedWallets   []SessionWallet `json:"verifiedWallets"`
		UnverifiedWallets []SessionWallet `json:"unverifiedWallets"`
	}
	check.decode(body, &found)
	if found.VerifiedWallets == nil || found.UnverifiedWallets == nil {
		check.fail("verifiedWallets or unverifiedWallets is not a list")
	}
	read := &SessionState{
		SessionID:         check.text("sessionId", found.SessionID, uuidForm),
		Status:            SessionStatus(check.one("status", found.Status, statuses...)),
		UserID:            found.UserID,
		CompletedAt:       found.CompletedAt,
		VerifiedWallets:   found.VerifiedWallets,
		UnverifiedWallets: found.UnverifiedWallets,
	}
	if check.err != nil {
		return nil, check.err
	}
	return read, nil
}

func readWalletVerification(got answer) (*WalletVerification, error) {
	check := &fields{requestID: got.requestID}
	var found struct {
		Address    *string          `json:"address"`
		Verified   *bool            `json:"verified"`
		Status     *string          `json:"status"`
		UserID     string           `json:"userId"`
		CheckType  *string          `json:"checkType"`
		VerifiedAt string           `json:"verifiedAt"`
		Wallets    []VerifiedWallet `json:"wallets"`
	}
	check.decode(got.body, &found)
	read := &WalletVerification{
		Address:    check.text("address", found.Address, anyForm),
		Verified:   check.flag("verified", found.Verified),
		UserID:     found.UserID,
		VerifiedAt: found.VerifiedAt,
		Wallets:    found.Wallets,
	}
	if found.Status != nil {
		read.Status = SessionStatus(check.one("status", found.Status, statuses...))
	}
	if found.CheckType != nil {
		read.CheckType = check.one("checkType", found.CheckType, "kyc", "kyb")
	}
	if check.err != nil {
		return nil, check.err
	}
	return read, nil
}
