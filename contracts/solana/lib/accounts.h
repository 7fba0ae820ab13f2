// Creation of program accounts at addresses of seeds, their closing, and the upgrade authority of a program.
#pragma once
#include "program.h"

/** Error numbers of Anchor, so that tools display their names. */
#define ERROR_ACCOUNT_NOT_MUTABLE 2000
#define ERROR_WRONG_ADDRESS 2006
#define ERROR_RENT_UNKNOWN 2005
#define ERROR_WRONG_SYSTEM_PROGRAM 3008

#define SEEDS_MAX 3

/** Sysvar Rent: lamports per byte and year, years for exemption (a double), and the burned share. */
struct rent {
  u64 lamports_per_byte_year;
  u64 exemption_years_bits;
  u8 burn_percent;
};

#define DOUBLE_ONE 0x3ff0000000000000ULL
#define DOUBLE_TWO 0x4000000000000000ULL
#define ACCOUNT_OVERHEAD 128

/** Returns the minimum balance for `space` bytes. Without floating point, the threshold can only be 1 or 2 years. */
static u64 rent_exempt_lamports(u64 space, u64 *lamports) {
  struct rent rent;
  TRY(sol_get_rent_sysvar(&rent));
  const u64 years = rent.exemption_years_bits == DOUBLE_TWO ? 2 : 1;
  REQUIRE(years == 2 || rent.exemption_years_bits == DOUBLE_ONE, ERROR_RENT_UNKNOWN);
  *lamports = (space + ACCOUNT_OVERHEAD) * rent.lamports_per_byte_year * years;
  return 0;
}

/** Returns true if the account belongs to the program and starts with these 8 bytes. */
static inline int is_own(const struct call *call, const struct account *account, u64 kind, u64 length) {
  return equal_keys(account->owner, call->program) && data_length(account) == length && U64_AT(account->data) == kind;
}

/** Calls the system program with writable accounts, of which the first `signing` accounts sign. */
static u64 system_call(const struct account *accounts, u64 count, u64 signing, const struct slice *data,
                       const struct signer *signer) {
  struct account_use uses[2];
  for (u64 index = 0; index < count; index++) {
    uses[index].key = accounts[index].key;
    uses[index].is_writable = 1;
    uses[index].is_signer = index < signing;
  }
  const struct instruction instruction = {SYSTEM_PROGRAM, uses, count, data->at, data->length};
  return sol_invoke_signed_c(&instruction, accounts, count, signer, signer == 0 ? 0 : 1);
}

/** Moves lamports between accounts of the system program. @param signer seeds of `from`; null if it signs */
static u64 transfer_lamports(const struct account *from, const struct account *to, u64 lamports,
                             const struct signer *signer) {
  const struct account pair[2] = {current(from), current(to)};
  u8 data[12];
  *(u32 *)data = 2;
  U64_AT(data + 4) = lamports;
  const struct slice instruction = {data, sizeof data};
  return system_call(pair, 2, 1, &instruction, signer);
}

struct new_account {
  const struct account *account;
  const struct account *payer;
  const struct account *system_program;
  /** Seeds without the bump, with room for it. */
  struct slice seeds[SEEDS_MAX];
  u64 seed_count;
  u64 length;
  /** Error if the account already exists. */
  u64 taken;
};

/** The two instructions that create an account at an address with lamports. */
static u64 take_account(const struct call *call, const struct new_account *new, const struct signer *signer) {
  u8 data[36];
  struct slice instruction = {data, 12};
  *(u32 *)data = 8;
  U64_AT(data + 4) = new->length;
  struct account account = current(new->account);
  TRY(system_call(&account, 1, 1, &instruction, signer));
  account = current(new->account);
  instruction.length = 36;
  *(u32 *)data = 1;
  copy_key(data + 4, call->program);
  return system_call(&account, 1, 1, &instruction, signer);
}

/**
 * Creates an account of the program at the address of its seeds, filled with zeros, even if the address already has
 * lamports.
 */
static u64 create_account(const struct call *call, struct new_account *new) {
  const struct account *account = new->account;
  u8 address[KEY_BYTES];
  u8 bump;
  REQUIRE(sol_try_find_program_address(new->seeds, new->seed_count, call->program, address, &bump) == 0,
          ERROR_WRONG_ADDRESS);
  REQUIRE(equal_keys(address, account->key), ERROR_WRONG_ADDRESS);
  REQUIRE(equal_keys(new->system_program->key, SYSTEM_PROGRAM), ERROR_WRONG_SYSTEM_PROGRAM);
  REQUIRE(new->payer->is_signer, ERROR_MISSING_SIGNATURE);
  REQUIRE(equal_keys(account->owner, SYSTEM_PROGRAM) && data_length(account) == 0, new->taken);
  u64 needed;
  TRY(rent_exempt_lamports(new->length, &needed));
  new->seeds[new->seed_count].at = &bump;
  new->seeds[new->seed_count].length = 1;
  const struct signer signer = {new->seeds, new->seed_count + 1};
  if (*account->lamports > 0) {
    if (*account->lamports < needed) TRY(transfer_lamports(new->payer, account, needed - *account->lamports, 0));
    return take_account(call, new, &signer);
  }
  const struct account pair[2] = {current(new->payer), current(account)};
  u8 data[52];
  *(u32 *)data = 0;
  U64_AT(data + 4) = needed;
  U64_AT(data + 12) = new->length;
  copy_key(data + 20, call->program);
  const struct slice instruction = {data, sizeof data};
  return system_call(pair, 2, 2, &instruction, &signer);
}

/** Closes an account of the program: transfers its lamports to `recipient` and clears its data. */
static u64 close_account(const struct account *account, const struct account *recipient) {
  REQUIRE(!equal_keys(account->key, recipient->key), ERROR_WRONG_ADDRESS);
  REQUIRE(account->is_writable && recipient->is_writable, ERROR_ACCOUNT_NOT_MUTABLE);
  const u64 lamports = *account->lamports;
  *account->lamports = 0;
  *recipient->lamports += lamports;
  sol_memset_(account->data, 0, data_length(account));
  U64_AT(account->data - 8) = 0;
  copy_key(account->owner, SYSTEM_PROGRAM);
  return 0;
}

/** BPFLoaderUpgradeab1e11111111111111111111111 */
static const u8 UPGRADEABLE_LOADER[KEY_BYTES] = {
    0x02, 0xa8, 0xf6, 0x91, 0x4e, 0x88, 0xa1, 0xb0, 0xe2, 0x10, 0x15, 0x3e, 0xf7, 0x63, 0xae, 0x2b,
    0x00, 0xc2, 0xb9, 0x3d, 0x16, 0xc1, 0x24, 0xd2, 0xc0, 0x53, 0x7a, 0x10, 0x04, 0x80, 0x00, 0x00};

#define PROGRAM_DATA_KIND 3
#define PROGRAM_DATA_HEADER 45

/** True when there is a program at this address, so that its upgrade authority, if any, speaks for it. */
static inline int is_program(const struct account *account) {
  return account->is_executable || equal_keys(account->owner, UPGRADEABLE_LOADER);
}

/**
 * True when `authority` signs and may upgrade `program` now. ProgramData: kind (u32), slot (u64), whether there is an
 * authority (u8), the authority; the loader alone makes accounts at this address.
 */
static int is_upgrade_authority(const u8 *program, const struct account *program_data,
                                const struct account *authority) {
  if (!authority->is_signer || !equal_keys(program_data->owner, UPGRADEABLE_LOADER)) return 0;
  const struct slice seed = {program, KEY_BYTES};
  u8 address[KEY_BYTES];
  u8 bump;
  if (sol_try_find_program_address(&seed, 1, UPGRADEABLE_LOADER, address, &bump) != 0) return 0;
  const u8 *data = program_data->data;
  return equal_keys(address, program_data->key) && data_length(program_data) >= PROGRAM_DATA_HEADER &&
         U32_AT(data) == PROGRAM_DATA_KIND && data[12] == 1 && equal_keys(data + 13, authority->key);
}
