package countersign

import "math/big"

// AttestationRequest names either a contract or program (To) or a project (VerificationHash). Empty fields are omitted.
type AttestationRequest struct {
	// Chain is a chain's name, for example base or solana.
	Chain string
	// From is the end user's wallet.
	From             string
	To               string
	VerificationHash string
	// Data is the encoded call, 0x hex.
	Data string
	// MsgValue is in wei, or lamports on Solana.
	MsgValue *big.Int
	// UserIP is the end user's IP address, for policies that read the location.
	UserIP string
	// OnBehalf is the end user if From is a relayer.
	OnBehalf string
}

// Attestation is the proof that a contract or program verifies.
type Attestation struct {
	UUID string
	// Expiration is the last second, in Unix time, in which the attestation is accepted.
	Expiration int64
	// Attester is an EVM address, or a base58 public key on Solana.
	Attester string
	// Signature is 0x hex: 65 bytes on EVM chains, 64 on Solana.
	Signature string
}

// Reason describes a denial with the policy's code and message.
type Reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// AttestationAnswer has a nil Attestation if the policy denied the request. A denial is an answer, not an error.
type AttestationAnswer struct {
	IsCompliant bool
	PolicyID    string
	PolicyName  string
	// VerificationHash identifies the project. Contracts use it as their policy id, and it is part of the signed
	// statement.
	VerificationHash string
	UUID             string
	Attestation      *Attestation
	// Reason is nil if the policy has no message for its denial.
	Reason *Reason
	// RequestID is the call's id in the service's log.
	RequestID string
}

// BatchResult is the result of one request of a batch. One of the fields is nil.
type BatchResult struct {
	Answer *AttestationAnswer
	Err    *RequestRefusedError
}

// TaskRequest is a request of API version 1, for EVM chains only.
type TaskRequest struct {
	From string
	To   string
	// Data is 0x hex. Defaults to 0x.
	Data string
	// MsgValue is in wei. Nil means 0.
	MsgValue *big.Int
	// ChainID defaults to 1, Ethereum.
	ChainID  uint64
	OnBehalf string
}

// TaskAnswer has no signers and signatures if the policy denied the request.
type TaskAnswer struct {
	IsCompliant bool
	TaskID      string
	// Signers are in ascending order; Signatures[i] is by Signers[i].
	Signers    []string
	Signatures []string
	// ExpiryBlock is a block number, or Unix seconds if the service uses seconds for the chain.
	ExpiryBlock int64
	RequestID   string
}

type attestationBody struct {
	From             string `json:"from"`
	Chain            string `json:"chain"`
	To               string `json:"to,omitempty"`
	VerificationHash string `json:"verification_hash,omitempty"`
	Data             string `json:"data,omitempty"`
	MsgValue         string `json:"msg_value,omitempty"`
	UserIP           string `json:"user_ip,omitempty"`
	OnBehalf         string `json:"on_behalf,omitempty"`
	IdempotencyKey   string `json:"idempotency_key,omitempty"`
}

func (r AttestationRequest) body() attestationBody {
	body := attestationBody{
		From: r.From, Chain: r.Chain, To: r.To, VerificationHash: r.VerificationHash, Data: r.Data,
		UserIP: r.UserIP, OnBehalf: r.OnBehalf,
	}
	if r.MsgValue != nil {
		body.MsgValue = r.MsgValue.String()
	}
	return body
}

type evaluationFields struct {
	IsCompliant      *bool   `json:"is_compliant"`
	PolicyID         *string `json:"policy_id"`
	PolicyName       *string `json:"policy_name"`
	VerificationHash *string `json:"verification_hash"`
	Attestation      struct {
		UUID       *string `json:"uuid"`
		Expiration *int64  `json:"expiration"`
		Attester   *string `json:"attester"`
		Signature  *string `json:"signature"`
	} `json:"attestation"`
	Reason *Reason `json:"reason"`
}

func (e evaluationFields) read(check *fields) *AttestationAnswer {
	got := &AttestationAnswer{
		IsCompliant:      check.flag("is_compliant", e.IsCompliant),
		PolicyID:         check.text("policy_id", e.PolicyID, anyForm),
		PolicyName:       check.text("policy_name", e.PolicyName, anyForm),
		VerificationHash: check.text("verification_hash", e.VerificationHash, anyForm),
		UUID:             check.text("attestation.uuid", e.Attestation.UUID, uuidForm),
		RequestID:        check.requestID,
	}
	if !got.IsCompliant {
		got.Reason = e.Reason
		return got
	}
	got.Attestation = &Attestation{
		UUID:       got.UUID,
		Expiration: check.count("attestation.expiration", e.Attestation.Expiration),
		Attester:   check.text("attestation.attester", e.Attestation.Attester, attesterForm),
		Signature:  check.text("attestation.signature", e.Attestation.Signature, signatureForm),
	}
	return got
}

func readAttestationAnswer(got answer) (*AttestationAnswer, error) {
	check := &fields{requestID: got.requestID}
	var found evaluationFields
	check.decode(got.body, &found)
	read := found.read(check)
	if check.err != nil {
		return nil, check.err
	}
	return read, nil
}

func readBatch(got answer, size int) ([]BatchResult, error) {
	check := &fields{requestID: got.requestID}
	var found struct {
		Answers []struct {
			Index   *int64            `json:"index"`
			Status  *int64            `json:"status"`
			Answer  *evaluationFields `json:"answer"`
			Problem *struct {
				Code   *string `json:"code"`
				Detail *string `json:"detail"`
			} `json:"problem"`
			RetryAfterSeconds *int `json:"retry_after_seconds"`
		} `json:"answers"`
	}
	check.decode(got.body, &found)
	if len(found.Answers) != size {
		check.fail("the answers do not match the requests")
	}
	results := make([]BatchResult, 0, size)
	for index, element := range found.Answers {
		switch {
		case element.Index == nil || *element.Index != int64(index):
			check.fail("the answers do not match the requests")
		case element.Problem != nil:
			results = append(results, BatchResult{Err: &RequestRefusedError{
				Code:              check.text("problem.code", element.Problem.Code, anyForm),
				Status:            int(check.count("status", element.Status)),
				Detail:            check.text("problem.detail", element.Problem.Detail, anyForm),
				RequestID:         got.requestID,
				RetryAfterSeconds: element.RetryAfterSeconds,
			}})
		case element.Answer != nil:
			results = append(results, BatchResult{Answer: element.Answer.read(check)})
		default:
			check.fail("an answer is missing")
		}
	}
	return results, check.err
}

type taskBody struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Data     string `json:"data"`
	MsgValue string `json:"msg_value"`
	ChainID  uint64 `json:"chain_id,omitempty"`
	OnBehalf string `json:"on_behalf,omitempty"`
}

func (r TaskRequest) body() taskBody {
	body := taskBody{From: r.From, To: r.To, Data: r.Data, MsgValue: "0", ChainID: r.ChainID, OnBehalf: r.OnBehalf}
	if r.MsgValue != nil {
		body.MsgValue = r.MsgValue.String()
	}
	return body
}

func readTaskAnswer(got answer) (*TaskAnswer, error) {
	check := &fields{requestID: got.requestID}
	var found struct {
		IsCompliant *bool    `json:"is_compliant"`
		TaskID      *string  `json:"task_id"`
		Signers     []string `json:"signers"`
		Signature   []string `json:"signature"`
		ExpiryBlock *int64   `json:"expiry_block"`
	}
	check.decode(got.body, &found)
	read := &TaskAnswer{
		IsCompliant: check.flag("is_compliant", found.IsCompliant),
		TaskID:      check.text("task_id", found.TaskID, uuidForm),
		RequestID:   got.requestID,
	}
	if read.IsCompliant {
		if len(found.Signers) == 0 || len(found.Signers) != len(found.Signature) {
			check.fail("signers and signature must have the same length")
		}
		for _, signer := range found.Signers {
			read.Signers = append(read.Signers, check.text("signers", &signer, evmAddressForm))
		}
		for _, signature := range found.Signature {
			read.Signatures = append(read.Signatures, check.text("signature", &signature, taskSignatureForm))
		}
		read.ExpiryBlock = check.count("expiry_block", found.ExpiryBlock)
	}
	if check.err != nil {
		return nil, check.err
	}
	return read, nil
}
