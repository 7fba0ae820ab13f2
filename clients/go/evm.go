package countersign

import (
	"encoding/hex"
	"math/big"
	"strings"
)

// EVMChainIDs are the EIP-155 ids by chain name. They are part of the signed statement.
var EVMChainIDs = map[string]uint64{
	"ethereum":        1,
	"base":            8453,
	"arbitrum":        42161,
	"hyperliquid":     999,
	"plume":           98866,
	"bsc":             56,
	"plasma":          9745,
	"worldchain":      480,
	"sepolia":         11155111,
	"megaeth":         4326,
	"megaeth-testnet": 6343,
}

const zeroAddress = "0x0000000000000000000000000000000000000000"

// EVMAttestedCall is a complete call on an EVM chain, for which the attester signed.
type EVMAttestedCall struct {
	ChainID uint64
	From    string
	// To is the zero address for off-chain use.
	To string
	// VerificationHash is the requested project, if the request names one; otherwise the answer's.
	VerificationHash string
	// Data is 0x hex. Empty means none.
	Data string
	// Wei is the call's value. Nil means 0.
	Wei *big.Int
}

// requestedHash returns the requested project, if the request names one; otherwise the answer's.
func requestedHash(asked AttestationRequest, got *AttestationAnswer) string {
	if asked.VerificationHash != "" {
		return asked.VerificationHash
	}
	return got.VerificationHash
}

// NewEVMAttestedCall returns the call of an answer. If chainID is 0, the id comes from EVMChainIDs.
func NewEVMAttestedCall(asked AttestationRequest, got *AttestationAnswer, chainID uint64) (EVMAttestedCall, error) {
	if chainID == 0 {
		chainID = EVMChainIDs[asked.Chain]
	}
	if chainID == 0 {
		return EVMAttestedCall{}, &ArgumentInvalidError{"chainID", "must be given for the chain " + asked.Chain}
	}
	to := asked.To
	if to == "" {
		to = zeroAddress
	}
	return EVMAttestedCall{chainID, asked.From, to, requestedHash(asked, got), asked.Data, asked.MsgValue}, nil
}

func word(argument string, value *big.Int) ([]byte, error) {
	if value == nil {
		value = new(big.Int)
	}
	if value.Sign() < 0 || value.BitLen() > 256 {
		return nil, &ArgumentInvalidError{argument, "must be from 0 to 2^256 - 1"}
	}
	return value.FillBytes(make([]byte, 32)), nil
}

func addressWord(argument, text string) ([]byte, error) {
	if !evmAddressForm.MatchString(text) {
		return nil, &ArgumentInvalidError{argument, "must be 0x and 40 hex digits"}
	}
	value, _ := new(big.Int).SetString(text[2:], 16)
	return word(argument, value)
}

func hexBytes(argument, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	decoded, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || !strings.HasPrefix(text, "0x") {
		return nil, &ArgumentInvalidError{argument, "must be 0x and whole bytes of hex"}
	}
	return decoded, nil
}

// EVMDigest returns the 32 bytes that the attester signed: keccak256 of the statement's ABI encoding (docs/decisions.md
// §2, "What EVM signs"). It does not check the signature, because Go's standard library has no secp256k1.
func EVMDigest(call EVMAttestedCall, attestation Attestation) ([32]byte, error) {
	if call.ChainID == 0 {
		return [32]byte{}, &ArgumentInvalidError{"ChainID", "must be a whole number from 1"}
	}
	data, err := hexBytes("Data", call.Data)
	if err != nil {
		return [32]byte{}, err
	}
	from, err := addressWord("From", call.From)
	if err != nil {
		return [32]byte{}, err
	}
	to, err := addressWord("To", call.To)
	if err != nil {
		return [32]byte{}, err
	}
	wei, err := word("Wei", call.Wei)
	if err != nil {
		return [32]byte{}, err
	}
	expiration, err := word("Expiration", big.NewInt(attestation.Expiration))
	if err != nil {
		return [32]byte{}, err
	}
	number := func(value uint64) []byte { return new(big.Int).SetUint64(value).FillBytes(make([]byte, 32)) }
	var tails []byte
	offset := func(tail []byte) []byte {
		at := number(uint64(8*32 + len(tails)))
		tails = append(append(tails, number(uint64(len(tail)))...), tail...)
		tails = append(tails, make([]byte, (32-len(tail)%32)%32)...)
		return at
	}
	uuid := offset([]byte(attestation.UUID))
	encodedData := offset(data)
	policy := offset([]byte(call.VerificationHash))
	var encoded []byte
	for _, part := range [][]byte{number(call.ChainID), uuid, from, to, wei, encodedData, policy, expiration, tails} {
		encoded = append(encoded, part...)
	}
	return Keccak256(encoded), nil
}
