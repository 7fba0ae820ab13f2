// Example of a guarded program: a vault per owner that pays out lamports only if the registry accepts the attestation.
// It calls the registry itself, so that no other instruction of the transaction can replace the answer. Depending on
// its config, the policy evaluates the sender alone, or the sender, amount and recipient. A program with both variants
// under one policy would be as weak as the weaker variant.
#include "../lib/accounts.h"

/** "VaultConfig": the trusted registry program, and whether amount and recipient are bound. */
#define CONFIG_KIND 0x4d7766b8d82b5663ULL
#define CONFIG_LENGTH 41
#define CONFIG_REGISTRY 8
#define CONFIG_BINDS_CALL 40

#define ERROR_UNAUTHORIZED 6002
#define ERROR_ALREADY_INITIALIZED 6004
#define ERROR_NOT_INITIALIZED 6005
#define ERROR_WRONG_REGISTRY 6200

#define ATTESTATION_BYTES 120
#define VALIDATE_ATTESTATION 0xdc4901958f24e8faULL
#define WITHDRAW 0x22a16d949c4612b7ULL
/** Discriminator, target, lamports, length of the arguments; the arguments (amount and recipient). */
#define ARGUMENTS_AT 52
#define ARGUMENTS_MAX 48

static struct call *const CALL = (struct call *)0x300000000;
/** Arguments of the call to the registry. */
static u8 *const REQUEST = (u8 *)(0x300000000 + 4096);

#define SEED(text) {(text), sizeof(text) - 1}

/**
 * initialize(registry program, whether the call is bound), by this program's upgrade authority, once. Accounts: config
 * (w), authority (w, signs), system program, this program's data.
 */
static u64 initialize(struct call *call) {
  REQUIRE(call->account_count >= 4, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 8 + KEY_BYTES + 1 && call->data[40] <= 1, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *config = &call->accounts[0], *authority = &call->accounts[1];
  REQUIRE(is_upgrade_authority(call->program, &call->accounts[3], authority), ERROR_UNAUTHORIZED);
  struct new_account new = {
      config, authority, &call->accounts[2], {SEED("config")}, 1, CONFIG_LENGTH, ERROR_ALREADY_INITIALIZED};
  TRY(create_account(call, &new));
  U64_AT(config->data) = CONFIG_KIND;
  copy_key(config->data + CONFIG_REGISTRY, call->data + 8);
  config->data[CONFIG_BINDS_CALL] = call->data[40];
  return 0;
}

/** Calls the registry, which fails the whole transaction on a refusal. @param accounts the registry's seven accounts */
static u64 require_attestation(const struct call *call, const u8 *config, const u8 *recipient,
                               const struct account *accounts) {
  const u64 arguments_length = config[CONFIG_BINDS_CALL] ? ARGUMENTS_MAX : 0;
  U64_AT(REQUEST) = VALIDATE_ATTESTATION;
  copy_key(REQUEST + 8, call->program);
  U64_AT(REQUEST + 40) = config[CONFIG_BINDS_CALL] ? U64_AT(call->data + 8) : 0;
  *(u32 *)(REQUEST + 48) = (u32)arguments_length;
  if (config[CONFIG_BINDS_CALL]) {
    U64_AT(REQUEST + ARGUMENTS_AT) = WITHDRAW;
    U64_AT(REQUEST + ARGUMENTS_AT + 8) = U64_AT(call->data + 8);
    copy_key(REQUEST + ARGUMENTS_AT + 16, recipient);
  }
  sol_memcpy_(REQUEST + ARGUMENTS_AT + arguments_length, call->data + 16, ATTESTATION_BYTES);

  struct account_use uses[7];
  for (u64 index = 0; index < 7; index++) {
    uses[index].key = accounts[index].key;
    uses[index].is_writable = accounts[index].is_writable;
    uses[index].is_signer = index == 4;
  }
  const struct instruction instruction = {config + CONFIG_REGISTRY, uses, 7, REQUEST,
                                          ARGUMENTS_AT + arguments_length + ATTESTATION_BYTES};
  return sol_invoke_signed_c(&instruction, accounts, 7, 0, 0);
}

/**
 * withdraw(amount, attestation). Accounts: config, vault (w), recipient (w), registry program, then the seven of
 * validate_attestation, of which the fifth is the owner (w, signs) and the sixth the system program.
 */
static u64 withdraw(struct call *call) {
  REQUIRE(call->account_count >= 11, ERROR_NOT_ENOUGH_ACCOUNTS);
  REQUIRE(call->data_length == 16 + ATTESTATION_BYTES, ERROR_INVALID_INSTRUCTION_DATA);
  const struct account *config = &call->accounts[0], *vault = &call->accounts[1], *recipient = &call->accounts[2];
  const struct account *registry = &call->accounts[3], *owner = &call->accounts[8];
  REQUIRE(is_own(call, config, CONFIG_KIND, CONFIG_LENGTH), ERROR_NOT_INITIALIZED);
  REQUIRE(equal_keys(registry->key, config->data + CONFIG_REGISTRY), ERROR_WRONG_REGISTRY);
  REQUIRE(owner->is_signer, ERROR_MISSING_SIGNATURE);
  TRY(require_attestation(call, config->data, recipient->key, &call->accounts[4]));

  struct slice seeds[3] = {SEED("vault"), {owner->key, KEY_BYTES}};
  u8 address[KEY_BYTES];
  u8 bump;
  REQUIRE(sol_try_find_program_address(seeds, 2, call->program, address, &bump) == 0, ERROR_WRONG_ADDRESS);
  REQUIRE(equal_keys(address, vault->key), ERROR_WRONG_ADDRESS);
  seeds[2].at = &bump;
  seeds[2].length = 1;
  const struct signer signer = {seeds, 3};
  return transfer_lamports(vault, recipient, U64_AT(call->data + 8), &signer);
}

u64 entrypoint(u8 *input) {
  struct call *call = CALL;
  TRY(read_call(input, call));
  REQUIRE(call->data_length >= 8, ERROR_INVALID_INSTRUCTION_DATA);
  if (U64_AT(call->data) == WITHDRAW) return withdraw(call);
  if (U64_AT(call->data) == 0xed9b980d1f6dafafULL) return initialize(call);
  return ERROR_INVALID_INSTRUCTION_DATA;
}
