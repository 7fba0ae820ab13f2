// Consumes an attestation: builds the signed statement from the data of this call, and creates the account that marks
// its uuid as consumed. Statement: docs/decisions.md §2, "What Solana signs".
#pragma once
#include "signature.h"

#define UUID_BYTES 16

struct attestation {
  const u8 *target;
  const u8 *lamports;
  const u8 *arguments;
  u64 arguments_length;
  const u8 *uuid;
  const u8 *attester;
  const u8 *signature;
  const u8 *expiration;
};

/** Data after the discriminator: target, lamports, arguments with u32 length, uuid, attester, signature, expiration. */
static u64 read_attestation(const struct call *call, struct attestation *attestation) {
  const u64 arguments_at = 8 + KEY_BYTES + 8 + 4;
  const u64 rest = UUID_BYTES + KEY_BYTES + SIGNATURE_BYTES + 8;
  REQUIRE(call->data_length >= arguments_at, ERROR_INVALID_INSTRUCTION_DATA);
  attestation->target = call->data + 8;
  attestation->lamports = call->data + 8 + KEY_BYTES;
  attestation->arguments = call->data + arguments_at;
  attestation->arguments_length = U32_AT(attestation->arguments - 4);
  REQUIRE(call->data_length == arguments_at + attestation->arguments_length + rest, ERROR_INVALID_INSTRUCTION_DATA);
  attestation->uuid = attestation->arguments + attestation->arguments_length;
  attestation->attester = attestation->uuid + UUID_BYTES;
  attestation->signature = attestation->attester + KEY_BYTES;
  attestation->expiration = attestation->signature + SIGNATURE_BYTES;
  return 0;
}

static inline int is_expired(i64 expiration) { return now_seconds() - CLOCK_DRIFT_SECONDS > expiration; }

/** Computes the 32 bytes that an attester signs. */
static void hash_statement(const struct attestation *attestation, const u8 *from, const u8 *policy, u8 *message) {
  u8 hashes[2 * 32];
  const struct slice arguments = {attestation->arguments, attestation->arguments_length};
  const struct slice text = {policy + POLICY_TEXT, U32_AT(policy + POLICY_TEXT_LENGTH)};
  sol_sha256(&arguments, 1, hashes);
  sol_sha256(&text, 1, hashes + 32);
  const struct slice parts[] = {
      SEED("predicate_solana_attestation"),
      {attestation->uuid, UUID_BYTES},
      {from, KEY_BYTES},
      {attestation->target, KEY_BYTES},
      {attestation->lamports, 8},
      {hashes, sizeof hashes},
      {attestation->expiration, 8},
  };
  sol_sha256(parts, sizeof parts / sizeof parts[0], message);
}

/**
 * validate_attestation(…). Accounts: registry, attester account, policy, spent uuid (w), signer (w, signs), system
 * program, instructions sysvar.
 */
static u64 validate_attestation(struct call *call) {
  REQUIRE(call->account_count >= 7, ERROR_NOT_ENOUGH_ACCOUNTS);
  struct attestation attestation;
  TRY(read_attestation(call, &attestation));
  const struct account *attester = &call->accounts[1], *policy = &call->accounts[2], *spent = &call->accounts[3];
  const struct account *signer = &call->accounts[4];
  TRY(read_registry(call, &call->accounts[0]));
  REQUIRE(signer->is_signer, ERROR_MISSING_SIGNATURE);
  const i64 expiration = I64_AT(attestation.expiration);
  REQUIRE(!is_expired(expiration), ERROR_STATEMENT_EXPIRED);
  REQUIRE(is_own(call, attester, ATTESTER_KIND, ATTESTER_LENGTH) && attester->data[ATTESTER_REGISTERED] == 1 &&
              equal_keys(attester->data + ATTESTER_KEY, attestation.attester),
          ERROR_ATTESTER_NOT_REGISTERED_FOR_VALIDATION);
  REQUIRE(is_own(call, policy, POLICY_KIND, POLICY_LENGTH), ERROR_POLICY_NOT_FOUND);
  REQUIRE(equal_keys(policy->data + POLICY_TARGET, attestation.target), ERROR_INVALID_CLIENT_PROGRAM);
  u8 message[MESSAGE_BYTES];
  hash_statement(&attestation, signer->key, policy->data, message);
  TRY(require_checked_signature(&call->accounts[6], attestation.signature, attestation.attester, message));

  struct new_account new = {
      spent, signer, &call->accounts[5], {SEED("used_uuid"), {attestation.uuid, UUID_BYTES}}, 2, SPENT_LENGTH,
      ERROR_UUID_ALREADY_USED};
  TRY(create_account(call, &new));
  U64_AT(spent->data) = SPENT_KIND;
  sol_memcpy_(spent->data + SPENT_UUID, attestation.uuid, UUID_BYTES);
  I64_AT(spent->data + SPENT_EXPIRATION) = expiration;
  copy_key(spent->data + SPENT_PAYER, signer->key);
  const u8 yes = 1;
  sol_set_return_data(&yes, 1);
  return 0;
}

/**
 * cleanup_expired_uuid(), callable by anyone: returns the rent to its payer after the attestation has expired.
 * Accounts: spent uuid (w), payer (w).
 */
static u64 cleanup_expired_uuid(struct call *call) {
  REQUIRE(call->account_count >= 2, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *spent = &call->accounts[0], *payer = &call->accounts[1];
  REQUIRE(is_own(call, spent, SPENT_KIND, SPENT_LENGTH), ERROR_INVALID_ACCOUNT_DATA);
  REQUIRE(equal_keys(spent->data + SPENT_PAYER, payer->key), ERROR_UNAUTHORIZED);
  REQUIRE(is_expired(I64_AT(spent->data + SPENT_EXPIRATION)), ERROR_STATEMENT_NOT_EXPIRED);
  return close_account(spent, payer);
}
