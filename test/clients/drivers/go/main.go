// Drives the Go client: a JSON line in, JSON lines out, as ../../driver.ts describes them.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"time"

	countersign "countersign.example/client"
)

type object = map[string]any

type wireRequest struct {
	Chain            string `json:"chain"`
	From             string `json:"from"`
	To               string `json:"to"`
	VerificationHash string `json:"verification_hash"`
	Data             string `json:"data"`
	MsgValue         string `json:"msg_value"`
	UserIP           string `json:"user_ip"`
	OnBehalf         string `json:"on_behalf"`
	ChainID          uint64 `json:"chain_id"`
	// Of a session.
	WalletAddress  string `json:"wallet_address"`
	OriginURL      string `json:"origin_url"`
	Size           int    `json:"size"`
	SandboxOutcome string `json:"sandbox_outcome"`
}

type step struct {
	Call    string `json:"call"`
	Options struct {
		AttestationURL    string `json:"attestation_url"`
		AttestationAPIKey string `json:"attestation_api_key"`
		IdentityURL       string `json:"identity_url"`
		IdentityAPIKey    string `json:"identity_api_key"`
		TimeoutMs         int    `json:"timeout_ms"`
		Retry             struct {
			Tries       int `json:"tries"`
			BaseDelayMs int `json:"base_delay_ms"`
			MaxDelayMs  int `json:"max_delay_ms"`
		} `json:"retry"`
	} `json:"options"`
	Request        wireRequest   `json:"request"`
	Requests       []wireRequest `json:"requests"`
	IdempotencyKey string        `json:"idempotency_key"`
	Type           string        `json:"type"`
	SessionID      string        `json:"session_id"`
	Address        string        `json:"address"`
	Chain          string        `json:"chain"`
	ChainID        uint64        `json:"chain_id"`
	Answer         struct {
		VerificationHash string                  `json:"verification_hash"`
		Attestation      countersign.Attestation `json:"attestation"`
	} `json:"answer"`
}

func amount(text string) *big.Int {
	if text == "" {
		return nil
	}
	value, _ := new(big.Int).SetString(text, 10)
	return value
}

func (r wireRequest) attestation() countersign.AttestationRequest {
	return countersign.AttestationRequest{
		Chain: r.Chain, From: r.From, To: r.To, VerificationHash: r.VerificationHash, Data: r.Data,
		MsgValue: amount(r.MsgValue), UserIP: r.UserIP, OnBehalf: r.OnBehalf,
	}
}

func failure(err error) object {
	var refused *countersign.RequestRefusedError
	var unreachable *countersign.ServiceUnreachableError
	var invalid *countersign.AnswerInvalidError
	var argument *countersign.ArgumentInvalidError
	switch {
	case errors.As(err, &refused):
		return object{
			"kind": "refused", "code": refused.Code, "status": refused.Status, "detail": refused.Detail,
			"retry_after_seconds": refused.RetryAfterSeconds,
		}
	case errors.As(err, &unreachable):
		return object{"kind": "unreachable", "code": "SERVICE_UNREACHABLE"}
	case errors.As(err, &invalid):
		return object{"kind": "answer_invalid", "code": "ANSWER_INVALID"}
	case errors.As(err, &argument):
		return object{"kind": "argument_invalid", "code": "ARGUMENT_INVALID"}
	}
	return object{"kind": err.Error()}
}

func present(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func answered(got *countersign.AttestationAnswer) object {
	told := object{
		"is_compliant": got.IsCompliant, "policy_id": got.PolicyID, "policy_name": got.PolicyName,
		"verification_hash": got.VerificationHash, "uuid": got.UUID, "reason": got.Reason, "request_id": got.RequestID,
	}
	if got.Attestation != nil {
		told["attestation"] = object{
			"uuid": got.Attestation.UUID, "expiration": got.Attestation.Expiration,
			"attester": got.Attestation.Attester, "signature": got.Attestation.Signature,
		}
	}
	return told
}

func state(got *countersign.SessionState) object {
	return object{
		"session_id": got.SessionID, "status": got.Status, "user_id": present(got.UserID),
		"completed_at": present(got.CompletedAt), "verified_wallets": got.VerifiedWallets,
		"unverified_wallets": got.UnverifiedWallets,
	}
}

var client *countersign.Client

func run(ctx context.Context, s step) (any, error) {
	kind := countersign.SessionType(s.Type)
	switch s.Call {
	case "open":
		opened, err := countersign.New(countersign.Options{
			AttestationURL: s.Options.AttestationURL, AttestationAPIKey: s.Options.AttestationAPIKey,
			IdentityURL: s.Options.IdentityURL, IdentityAPIKey: s.Options.IdentityAPIKey,
			Timeout: time.Duration(s.Options.TimeoutMs) * time.Millisecond,
			Retry: countersign.RetryPolicy{
				Tries:     s.Options.Retry.Tries,
				BaseDelay: time.Duration(s.Options.Retry.BaseDelayMs) * time.Millisecond,
				MaxDelay:  time.Duration(s.Options.Retry.MaxDelayMs) * time.Millisecond,
			},
		})
		client = opened
		return nil, err
	case "attest":
		got, err := client.Attest(ctx, s.Request.attestation(), s.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		return answered(got), nil
	case "attest_many":
		var asked []countersign.AttestationRequest
		for _, request := range s.Requests {
			asked = append(asked, request.attestation())
		}
		got, err := client.AttestMany(ctx, asked, s.IdempotencyKey)
		var told []object
		for _, result := range got {
			if result.Err != nil {
				told = append(told, object{"error": failure(result.Err)})
			} else {
				told = append(told, object{"answer": answered(result.Answer)})
			}
		}
		return told, err
	case "task":
		got, err := client.Task(ctx, countersign.TaskRequest{
			From: s.Request.From, To: s.Request.To, Data: s.Request.Data, MsgValue: amount(s.Request.MsgValue),
			ChainID: s.Request.ChainID,
		}, s.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		return object{
			"is_compliant": got.IsCompliant, "task_id": got.TaskID, "signers": got.Signers,
			"signatures": got.Signatures, "expiry_block": got.ExpiryBlock,
		}, nil
	case "register":
		got, err := client.Register(ctx, kind, countersign.RegisterRequest{
			WalletAddress: s.Request.WalletAddress, OriginURL: s.Request.OriginURL, Size: s.Request.Size,
			SandboxOutcome: countersign.SessionStatus(s.Request.SandboxOutcome),
		}, s.IdempotencyKey)
		if err != nil {
			return nil, err
		}
		return object{
			"session_id": got.SessionID, "redirect_url": got.RedirectURL, "qr_code": got.QRCode, "reused": got.Reused,
		}, nil
	case "status":
		got, err := client.Status(ctx, kind, s.SessionID)
		if err != nil {
			return nil, err
		}
		return state(got), nil
	case "follow":
		return nil, client.Follow(ctx, kind, s.SessionID, func(got *countersign.SessionState) error {
			say(object{"state": state(got)})
			return nil
		})
	case "verify":
		got, err := client.VerifyOn(ctx, s.Address, kind, s.Chain)
		if err != nil {
			return nil, err
		}
		return object{
			"address": got.Address, "verified": got.Verified, "status": present(string(got.Status)),
			"user_id": present(got.UserID), "check_type": present(got.CheckType),
			"verified_at": present(got.VerifiedAt), "wallets": got.Wallets,
		}, nil
	}
	return offline(s)
}

// offline also says whether the signature holds, where the client can tell.
func offline(s step) (any, error) {
	answer := &countersign.AttestationAnswer{VerificationHash: s.Answer.VerificationHash}
	switch s.Call {
	case "evm_digest":
		call, err := countersign.NewEVMAttestedCall(s.Request.attestation(), answer, s.ChainID)
		if err != nil {
			return nil, err
		}
		digest, err := countersign.EVMDigest(call, s.Answer.Attestation)
		return object{"bytes": "0x" + hex.EncodeToString(digest[:])}, err
	case "solana_message":
		call, err := countersign.NewSolanaAttestedCall(s.Request.attestation(), answer)
		if err != nil {
			return nil, err
		}
		message, err := countersign.SolanaMessage(call, s.Answer.Attestation, "")
		if err != nil {
			return nil, err
		}
		verified, err := countersign.VerifySolanaAttestation(call, s.Answer.Attestation, "")
		return object{"bytes": "0x" + hex.EncodeToString(message), "verified": verified}, err
	}
	return nil, errors.New("no such call")
}

func say(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(text, '\n'))
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			panic(err)
		}
		if result, err := run(context.Background(), s); err != nil {
			say(object{"error": failure(err)})
		} else {
			say(object{"result": result})
		}
	}
}
