// What the registry keeps, and its errors. The first three accounts are laid out as the public registry program has them,
// so that the same readers read both; what is ours alone stands after that.
#pragma once
#include "../lib/accounts.h"

/** "PredicateRegistry": authority, made at, changed at, attesters, policies; ours: who is to become the authority. */
#define REGISTRY_KIND 0xaeb40d786de20737ULL
#define REGISTRY_LENGTH 104
#define REGISTRY_AUTHORITY 8
#define REGISTRY_CREATED_AT 40
#define REGISTRY_UPDATED_AT 48
#define REGISTRY_ATTESTERS 56
#define REGISTRY_POLICIES 64
#define REGISTRY_PENDING 72

/** "AttesterAccount": attester, whether it is registered, since when. */
#define ATTESTER_KIND 0x05a4abd7bf62b2e3ULL
#define ATTESTER_LENGTH 49
#define ATTESTER_KEY 8
#define ATTESTER_REGISTERED 40
#define ATTESTER_SINCE 41

/** "PolicyAccount": target, who set it or owns it, the policy as u32 length and text, set at, changed at; ours: owner. */
#define POLICY_KIND 0xaf517f9ca4b7c9daULL
#define POLICY_LENGTH 157
#define POLICY_TARGET 8
#define POLICY_AUTHORITY 40
#define POLICY_TEXT_LENGTH 72
#define POLICY_TEXT 76
#define POLICY_TEXT_MAX 64
#define POLICY_OWNER_KIND 156

/** Who but the upgrade authority may change a policy: nobody. */
#define OWNER_NONE 0
/** The authority, which the upgrade authority has declared. */
#define OWNER_DECLARED 1
/** The authority, which the target itself has declared, as long as it is no program. */
#define OWNER_OF_ACCOUNT 2

/** "SpentUuid", ours: uuid, until when its attestation counts, who paid and gets the rent back. */
#define SPENT_KIND 0xd202f565de2a3cc0ULL
#define SPENT_LENGTH 64
#define SPENT_UUID 8
#define SPENT_EXPIRATION 24
#define SPENT_PAYER 32

/** Seconds for which an attestation counts after its expiration: validators' clocks are not exact. */
#define CLOCK_DRIFT_SECONDS 30

/** The public program's numbers, where it has the same error. */
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
/** Ours. */
#define ERROR_POLICY_ALREADY_SET 6100

#define SEED(text) {(text), sizeof(text) - 1}

/** The one account of this kind is made by `initialize`, at its address: the program's own with this kind is it. */
static u64 read_registry(const struct call *call, const struct account *registry) {
  return is_own(call, registry, REGISTRY_KIND, REGISTRY_LENGTH) ? 0 : ERROR_NOT_INITIALIZED;
}

/** The registry, changed by its authority. */
static u64 require_authority(const struct call *call, const struct account *registry, const struct account *authority) {
  TRY(read_registry(call, registry));
  REQUIRE(authority->is_signer, ERROR_MISSING_SIGNATURE);
  return equal_keys(registry->data + REGISTRY_AUTHORITY, authority->key) ? 0 : ERROR_UNAUTHORIZED;
}

static inline void mark_changed(const struct account *registry) {
  I64_AT(registry->data + REGISTRY_UPDATED_AT) = now_seconds();
}
