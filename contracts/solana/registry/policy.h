// The policy of a target, set by the upgrade authority of the target program, by an owner that this authority declared,
// or, if the target is not a program, by an owner that the target declared with its signature.
#pragma once
#include "state.h"

/** The instruction's text: u32 length, then 1 to 64 visible ASCII characters. */
static u64 read_policy_text(const struct call *call, const u8 **text, u32 *length) {
  REQUIRE(call->data_length >= 12, ERROR_INVALID_INSTRUCTION_DATA);
  const u32 stated = U32_AT(call->data + 8);
  REQUIRE(call->data_length == 12 + (u64)stated, ERROR_INVALID_INSTRUCTION_DATA);
  REQUIRE(stated <= POLICY_TEXT_MAX, ERROR_POLICY_TOO_LONG);
  REQUIRE(stated > 0, ERROR_INVALID_POLICY);
  for (u32 index = 0; index < stated; index++) {
    const u8 character = call->data[12 + index];
    REQUIRE(character > 0x20 && character < 0x7f, ERROR_INVALID_POLICY);
  }
  *text = call->data + 12;
  *length = stated;
  return 0;
}

static void write_policy_text(u8 *policy, const u8 *text, u32 length, i64 set_at) {
  sol_memset_(policy + POLICY_TEXT_LENGTH, 0, POLICY_OWNER_KIND - POLICY_TEXT_LENGTH);
  *(u32 *)(policy + POLICY_TEXT_LENGTH) = length;
  sol_memcpy_(policy + POLICY_TEXT, text, length);
  I64_AT(policy + POLICY_TEXT + length) = set_at;
  I64_AT(policy + POLICY_TEXT + length + 8) = now_seconds();
}

/**
 * set_policy_id(text): sets a target's first policy. Accounts: registry (w), policy (w), target, its program data,
 * authority (w, signs), system program.
 */
static u64 set_policy(struct call *call) {
  REQUIRE(call->account_count >= 6, ERROR_NOT_ENOUGH_ACCOUNTS);
  const struct account *registry = &call->accounts[0], *policy = &call->accounts[1], *target = &call->accounts[2];
  const struct account *authority = &call->accounts[4];
  const u8 *text;
  u32 length;
  TRY(read_policy_text(call, &text, &length));
  TRY(read_registry(call, registry));
  const int is_account = target->is_signer && !is_program(target);
  REQUIRE(is_account || is_upgrade_authority(target->key, &call->accounts[3], authority), ERROR_UNAUTHORIZED);
  struct new_account new = {
      policy, authority, &call->accounts[5], {SEED("policy"), {target->key, KEY_BYTES}}, 2, POLICY_LENGTH,
      ERROR_POLICY_ALREADY_SET};
  TRY(create_account(call, &new));
  U64_AT(policy->data) = POLICY_KIND;
  copy_key(policy->data + POLICY_TARGET, target->key);
  copy_key(policy->data + POLICY_AUTHORITY, authority->key);
  policy->data[POLICY_OWNER_KIND] = is_account ? OWNER_OF_ACCOUNT : OWNER_NONE;
  write_policy_text(policy->data, text, length, now_seconds());
  U64_AT(registry->data + REGISTRY_POLICIES) += 1;
  mark_changed(registry);
  return 0;
}

/** Requires the policy account of `target`, and a signer who may change it. */
static u64 require_policy_owner(const struct call *call, const struct account *policy, const struct account *target,
                                const struct account *program_data, const struct account *authority) {
  REQUIRE(is_own(call, policy, POLICY_KIND, POLICY_LENGTH), ERROR_POLICY_NOT_FOUND);
  REQUIRE(equal_keys(policy->data + POLICY_TARGET, target->key), ERROR_INVALID_CLIENT_PROGRAM);
  REQUIRE(authority->is_signer, ERROR_MISSING_SIGNATURE);
  const u8 kind = policy->data[POLICY_OWNER_KIND];
  const int counts = kind == OWNER_DECLARED || (kind == OWNER_OF_ACCOUNT && !is_program(target));
  if (counts && equal_keys(policy->data + POLICY_AUTHORITY, authority->key)) return 0;
  return is_upgrade_authority(target->key, program_data, authority) ? 0 : ERROR_UNAUTHORIZED;
}

/** update_policy_id(text). Accounts: registry (w), policy (w), target, its program data, authority (signs). */
static u64 update_policy(struct call *call) {
  REQUIRE(call->account_count >= 5, ERROR_NOT_ENOUGH_ACCOUNTS);
  const struct account *registry = &call->accounts[0], *policy = &call->accounts[1], *authority = &call->accounts[4];
  const u8 *text;
  u32 length;
  TRY(read_policy_text(call, &text, &length));
  TRY(read_registry(call, registry));
  TRY(require_policy_owner(call, policy, &call->accounts[2], &call->accounts[3], authority));
  if (policy->data[POLICY_OWNER_KIND] == OWNER_NONE) copy_key(policy->data + POLICY_AUTHORITY, authority->key);
  write_policy_text(policy->data, text, length,
                    I64_AT(policy->data + POLICY_TEXT + U32_AT(policy->data + POLICY_TEXT_LENGTH)));
  mark_changed(registry);
  return 0;
}

/**
 * set_policy_owner(): transfers the policy to an owner, who also signs. The upgrade authority can name the system
 * program as the new owner, which revokes ownership. Accounts: registry, policy (w), target, its program data,
 * authority (signs), new owner (signs).
 */
static u64 set_policy_owner(struct call *call) {
  REQUIRE(call->account_count >= 6, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *policy = &call->accounts[1], *target = &call->accounts[2], *program_data = &call->accounts[3];
  const struct account *authority = &call->accounts[4], *owner = &call->accounts[5];
  TRY(read_registry(call, &call->accounts[0]));
  TRY(require_policy_owner(call, policy, target, program_data, authority));
  u8 *kind = policy->data + POLICY_OWNER_KIND;
  if (equal_keys(owner->key, SYSTEM_PROGRAM)) {
    // Without an upgrade authority, nobody could change the policy afterwards.
    REQUIRE(is_upgrade_authority(target->key, program_data, authority), ERROR_INVALID_AUTHORITY);
    *kind = OWNER_NONE;
    copy_key(policy->data + POLICY_AUTHORITY, authority->key);
    return 0;
  }
  REQUIRE(owner->is_signer, ERROR_MISSING_SIGNATURE);
  // An owner that the account declared cannot transfer more rights than it has.
  if (*kind != OWNER_OF_ACCOUNT || is_program(target)) *kind = OWNER_DECLARED;
  copy_key(policy->data + POLICY_AUTHORITY, owner->key);
  return 0;
}
