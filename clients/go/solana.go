package countersign

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"regexp"
	"strings"
)

// SolanaMessagePrefix is the prefix that the deployed registry program expects.
const SolanaMessagePrefix = "predicate_solana_attestation"

const (
	base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	// zeroKey is 32 zero bytes.
	zeroKey = "11111111111111111111111111111111"
)

var prefixForm = regexp.MustCompile(`^[\x21-\x7e]{1,64}$`)

// SolanaAttestedCall is the requested call, with the project of the answer.
type SolanaAttestedCall struct {
	// From is the user's base58 wallet address, which signs the transaction.
	From string
	// To is the base58 address of the program that requires the attestation; 32 zero bytes for off-chain use.
	To string
	// VerificationHash is the requested project, if the request names one; otherwise the answer's.
	VerificationHash string
	// Data is 0x hex. Empty means none.
	Data     string
	Lamports uint64
}

// NewSolanaAttestedCall returns the call of an answer.
func NewSolanaAttestedCall(asked AttestationRequest, got *AttestationAnswer) (SolanaAttestedCall, error) {
	made := SolanaAttestedCall{From: asked.From, To: asked.To, VerificationHash: requestedHash(asked, got), Data: asked.Data}
	if made.To == "" {
		made.To = zeroKey
	}
	if asked.MsgValue != nil {
		if !asked.MsgValue.IsUint64() {
			return made, &ArgumentInvalidError{"MsgValue", "must be from 0 to 2^64 - 1"}
		}
		made.Lamports = asked.MsgValue.Uint64()
	}
	return made, nil
}

// DecodeKey decodes a base58 key to 32 bytes, and accepts only its canonical spelling.
func DecodeKey(argument, text string) ([]byte, error) {
	invalid := &ArgumentInvalidError{argument, "must be base58 of 32 bytes"}
	if len(text) > 44 {
		return nil, invalid
	}
	value := new(big.Int)
	for _, character := range text {
		digit := strings.IndexRune(base58Alphabet, character)
		if digit < 0 {
			return nil, invalid
		}
		value.Add(value.Mul(value, big.NewInt(58)), big.NewInt(int64(digit)))
	}
	zeros := len(text) - len(strings.TrimLeft(text, "1"))
	if zeros+(value.BitLen()+7)/8 != 32 {
		return nil, invalid
	}
	return value.FillBytes(make([]byte, 32)), nil
}

// SolanaMessage returns the 32 bytes that the attester signed (docs/decisions.md §2, "What Solana signs"). An empty
// prefix means SolanaMessagePrefix.
func SolanaMessage(call SolanaAttestedCall, attestation Attestation, prefix string) ([]byte, error) {
	if prefix == "" {
		prefix = SolanaMessagePrefix
	}
	if !prefixForm.MatchString(prefix) {
		return nil, &ArgumentInvalidError{"prefix", "must be 1 to 64 visible ASCII characters"}
	}
	if !uuidForm.MatchString(attestation.UUID) {
		return nil, &ArgumentInvalidError{"UUID", "must be a UUID"}
	}
	if attestation.Expiration < 0 {
		return nil, &ArgumentInvalidError{"Expiration", "must be Unix seconds"}
	}
	uuid, err := hex.DecodeString(strings.ReplaceAll(attestation.UUID, "-", ""))
	if err != nil {
		return nil, &ArgumentInvalidError{"UUID", "must be a UUID"}
	}
	from, err := DecodeKey("From", call.From)
	if err != nil {
		return nil, err
	}
	to, err := DecodeKey("To", call.To)
	if err != nil {
		return nil, err
	}
	data, err := hexBytes("Data", call.Data)
	if err != nil {
		return nil, err
	}
	dataHash := sha256.Sum256(data)
	policyHash := sha256.Sum256([]byte(call.VerificationHash))
	layout := append([]byte(prefix), uuid...)
	layout = append(append(layout, from...), to...)
	layout = binary.LittleEndian.AppendUint64(layout, call.Lamports)
	layout = append(append(layout, dataHash[:]...), policyHash[:]...)
	layout = binary.LittleEndian.AppendUint64(layout, uint64(attestation.Expiration))
	message := sha256.Sum256(layout)
	return message[:], nil
}

// VerifySolanaAttestation reports whether the attester named in the attestation signed exactly this call. The caller
// must check that the attester is trusted and that the attestation has not expired.
func VerifySolanaAttestation(call SolanaAttestedCall, attestation Attestation, prefix string) (bool, error) {
	message, err := SolanaMessage(call, attestation, prefix)
	if err != nil {
		return false, err
	}
	attester, err := DecodeKey("Attester", attestation.Attester)
	if err != nil {
		return false, err
	}
	signature, err := hexBytes("Signature", attestation.Signature)
	if err != nil {
		return false, err
	}
	return len(signature) == ed25519.SignatureSize && ed25519.Verify(attester, message, signature), nil
}
