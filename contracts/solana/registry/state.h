// Accounts and errors of the registry. The first three accounts have the layout of the public registry program, so that
// the same readers can read both. Additional fields follow.
#pragma once
#include "../lib/accounts.h"

/** "PredicateRegistry": authority, created at, changed at, attesters, policies; additional: the pending authority. */
#define REGISTRY_KIND 0xaeb40d786de20737ULL
#define REGISTRY_LENGTH 104
#define REGISTRY_AUTHORITY 8
#define REGISTRY_CREATED_AT 40
#define REGISTRY_UPDATED_AT 48
#define REGISTRY_ATTESTERS 56
#define REGISTRY_POLICIES 64
#define REGISTRY_PENDING 72

/** "AttesterAccount": attester, whether it is registered, time of registration. */
#define ATTESTER_KIND 0x05a4abd7bf62b2e3ULL
#define ATTESTER_LENGTH 49
#define ATTESTER_KEY 8
#define ATTESTER_REGISTERED 40
#define ATTESTER_SINCE 41

/** "PolicyAccount": target, setter or owner, policy as u32 length and text, set at, changed at; additional: owner. */
#define POLICY_KIND 0xaf517f9ca4b7c9daULL
#define POLICY_LENGTH 157
#define POLICY_TARGET 8
#define POLICY_AUTHORITY 40
#define POLICY_TEXT_LENGTH 72
#define POLICY_TEXT 76
#define POLICY_TEXT_MAX 64
#define POLICY_OWNER_KIND 156

/** Only the upgrade authority may change the policy. */
#define OWNER_NONE 0
/** The owner, declared by the upgrade authority, may change the policy too. */
#define OWNER_DECLARED 1
/** The owner, declared by the target itself, may change the policy while the target is not a program. */
#define OWNER_OF_ACCOUNT 2

/** "SpentUuid", additional: uuid, end of validity of its attestation, payer, who gets the rent back. */
#define SPENT_KIND 0xd202f565de2a3cc0ULL
#define SPENT_LENGTH 64
#define SPENT_UUID 8
#define SPENT_EXPIRATION 24
#define SPENT_PAYER 32

/** Seconds for which an attestation is accepted after its expiration, because validators' clocks are inexact. */
#define CLOCK_DRIFT_SECONDS 30

/** Error numbers of the public program for the same errors. */
#define ERROR_ATTESTER_ALREADY_REGISTERED 6000
#define ERROR_ATTESTER_NOT_REGISTERED 6001
#define ERROR_UNAUTHORIZED 6002
#define ERROR_INVALID_AUTHORITY 6003
#define ERROR_ALREADY_INITIALIZED 6004
#define ERROR_NOT_INITIALIZED 6005
#define ERROR_INVALID_SIGNATURE 6011
#define ERROR_ATTESTER_NOT_REGISTERED_FOR_VALIDATION 6012
#define ERROR_POLICY_TOO_LONG 6013
#define ERROR_INVALID_POLICY 6014
#define ERROR_UUID_ALREADY_USED 6016
#define ERROR_STATEMENT_NOT_EXPIRED 6017
#define ERROR_STATEMENT_EXPIRED 6018
#define ERROR_INVALID_ACCOUNT_DATA 6021
#define ERROR_POLICY_NOT_FOUND 6022
#define ERROR_INVALID_CLIENT_PROGRAM 6027
/** Additional errors. */
#define ERROR_POLICY_ALREADY_SET 6100

#define SEED(text) {(text), sizeof(text) - 1}

/** `initialize` creates the only account of this kind, so any account of the program with this kind is the registry. */
static u64 read_registry(const struct call *call, const struct account *registry) {
  return is_own(call, registry, REGISTRY_KIND, REGISTRY_LENGTH) ? 0 : ERROR_NOT_INITIALIZED;
}

/** Requires the registry and the signature of its authority. */
static u64 require_authority(const struct call *call, const struct account *registry, const struct account *authority) {
  TRY(read_registry(call, registry));
  REQUIRE(authority->is_signer, ERROR_MISSING_SIGNATURE);
  return equal_keys(registry->data + REGISTRY_AUTHORITY, authority->key) ? 0 : ERROR_UNAUTHORIZED;
}

static inline void mark_changed(const struct account *registry) {
  I64_AT(registry->data + REGISTRY_UPDATED_AT) = now_seconds();
}
