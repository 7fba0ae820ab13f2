// The registry's authority, and its attesters.
#pragma once
#include "state.h"

/**
 * initialize(). Accounts: registry (w), authority (w, signs), system program, this program's data.
 * Only the upgrade authority of this program can call it, so that nobody can precede the deployer.
 */
static u64 initialize(struct call *call) {
  REQUIRE(call->account_count >= 4, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *registry = &call->accounts[0], *authority = &call->accounts[1];
  REQUIRE(is_upgrade_authority(call->program, &call->accounts[3], authority), ERROR_UNAUTHORIZED);
  struct new_account new = {
      registry, authority, &call->accounts[2], {SEED("predicate_registry")}, 1, REGISTRY_LENGTH,
      ERROR_ALREADY_INITIALIZED};
  TRY(create_account(call, &new));
  U64_AT(registry->data) = REGISTRY_KIND;
  copy_key(registry->data + REGISTRY_AUTHORITY, authority->key);
  I64_AT(registry->data + REGISTRY_CREATED_AT) = now_seconds();
  mark_changed(registry);
  return 0;
}

/** register_attester(attester). Accounts: registry (w), attester account (w), authority (w, signs), system program. */
static u64 register_attester(struct call *call) {
  REQUIRE(call->account_count >= 4, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8 + KEY_BYTES, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *registry = &call->accounts[0], *account = &call->accounts[1], *authority = &call->accounts[2];
  const u8 *attester = call->data + 8;
  TRY(require_authority(call, registry, authority));
  struct new_account new = {
      account, authority, &call->accounts[3], {SEED("attester"), {attester, KEY_BYTES}}, 2, ATTESTER_LENGTH,
      ERROR_ATTESTER_ALREADY_REGISTERED};
  TRY(create_account(call, &new));
  U64_AT(account->data) = ATTESTER_KIND;
  copy_key(account->data + ATTESTER_KEY, attester);
  account->data[ATTESTER_REGISTERED] = 1;
  I64_AT(account->data + ATTESTER_SINCE) = now_seconds();
  U64_AT(registry->data + REGISTRY_ATTESTERS) += 1;
  mark_changed(registry);
  return 0;
}

/** deregister_attester(attester). Accounts: registry (w), attester account (w), authority (w, signs, gets the rent). */
static u64 deregister_attester(struct call *call) {
  REQUIRE(call->account_count >= 3, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8 + KEY_BYTES, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *registry = &call->accounts[0], *account = &call->accounts[1], *authority = &call->accounts[2];
  TRY(require_authority(call, registry, authority));
  REQUIRE(is_own(call, account, ATTESTER_KIND, ATTESTER_LENGTH), ERROR_ATTESTER_NOT_REGISTERED);
  REQUIRE(equal_keys(account->data + ATTESTER_KEY, call->data + 8), ERROR_ATTESTER_NOT_REGISTERED);
  TRY(close_account(account, authority));
  U64_AT(registry->data + REGISTRY_ATTESTERS) -= 1;
  mark_changed(registry);
  return 0;
}

/**
 * transfer_authority(new authority), the first of two steps; the zero key withdraws it. Accounts: registry (w),
 * authority (signs).
 */
static u64 transfer_authority(struct call *call) {
  REQUIRE(call->account_count >= 2, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8 + KEY_BYTES, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *registry = &call->accounts[0];
  TRY(require_authority(call, registry, &call->accounts[1]));
  copy_key(registry->data + REGISTRY_PENDING, call->data + 8);
  mark_changed(registry);
  return 0;
}

/** accept_authority(), the second step. Accounts: registry (w), new authority (signs). */
static u64 accept_authority(struct call *call) {
  REQUIRE(call->account_count >= 2, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *registry = &call->accounts[0], *next = &call->accounts[1];
  TRY(read_registry(call, registry));
  REQUIRE(next->is_signer, ERROR_MISSING_SIGNATURE);
  u8 *pending = registry->data + REGISTRY_PENDING;
  REQUIRE(!equal_keys(pending, SYSTEM_PROGRAM) && equal_keys(pending, next->key), ERROR_INVALID_AUTHORITY);
  copy_key(registry->data + REGISTRY_AUTHORITY, next->key);
  copy_key(pending, SYSTEM_PROGRAM);
  mark_changed(registry);
  return 0;
}
