package countersign

import "strconv"

// SessionType is KYC (Individual) or KYB (Business).
type SessionType string

// The two kinds of verification sessions.
const (
	Individual SessionType = "individual"
	Business   SessionType = "business"
)

// SessionStatus is one of the constants below.
type SessionStatus string

// Follow ends after StatusCompleted or StatusRejected.
const (
	StatusPending   SessionStatus = "pending"
	StatusSubmitted SessionStatus = "submitted"
	StatusCompleted SessionStatus = "completed"
	StatusRejected  SessionStatus = "rejected"
	StatusRetry     SessionStatus = "retry"
)

// IsFinal returns whether the session no longer changes on its own.
func (s SessionStatus) IsFinal() bool { return s == StatusCompleted || s == StatusRejected }

var statuses = []string{"pending", "submitted", "completed", "rejected", "retry"}

// RegisterRequest has only optional fields.
type RegisterRequest struct {
	// WalletAddress is the only wallet that may connect and verify in the session.
	WalletAddress string
	// OriginURL is an absolute https URL to which the verification page links back.
	OriginURL string
	// Size of the QR code in pixels, 80 to 2000. Defaults to 300.
	Size int
	// SandboxOutcome sets the outcome of the session immediately. Requires a test key.
	SandboxOutcome SessionStatus
}

// RegisteredSession is a new or reused session.
type RegisteredSession struct {
	SessionID string
	// RedirectURL is the link for the end user.
	RedirectURL string
	// QRCode is a PNG as a data URI, for an image source.
	QRCode string
	Reused bool
}

// SessionWallet is a wallet that the person connected.
type SessionWallet struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	Chain   string `json:"chain"`
}

// SessionState is the state of a session.
type SessionState struct {
	SessionID string
	Status    SessionStatus
	// UserID is empty until the session has an identity.
	UserID string
	// CompletedAt is in ISO 8601; empty unless the session is completed.
	CompletedAt string
	// VerifiedWallets contains the wallets of a completed session; UnverifiedWallets, those of any other session.
	VerifiedWallets   []SessionWallet
	UnverifiedWallets []SessionWallet
}

// VerifiedWallet is a wallet of a verified identity.
type VerifiedWallet struct {
	Address string `json:"address"`
	Chain   string `json:"chain"`
}

// WalletVerification has empty fields for an unknown wallet, even if the service omits them.
type WalletVerification struct {
	Address  string
	Verified bool
	// Status of the most recent session; empty for an unknown wallet.
	Status SessionStatus
	UserID string
	// CheckType is kyc, kyb or empty.
	CheckType string
	// VerifiedAt is ISO 8601.
	VerifiedAt string
	// Wallets of the same identity, at accepted levels.
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

// body returns nil if all fields are empty; no body is then sent.
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
