// The ABI of Solana's loader for programs in C: the memory layout of a call's accounts and data, and the syscalls.
// Source: https://solana.com/docs/programs/faq#input-parameter-serialization, agave's syscall definitions.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define KEY_BYTES 32
#define ACCOUNTS_MAX 16

/** Accessed in place at any address: the machine has no alignment rules, and the build disables strict aliasing. */
#define U16_AT(at) (*(const u16 *)(at))
#define U32_AT(at) (*(const u32 *)(at))
#define U64_AT(at) (*(u64 *)(at))
#define I64_AT(at) (*(i64 *)(at))

/** An account of a call, in the layout that sol_invoke_signed_c requires. */
struct account {
  const u8 *key;
  u64 *lamports;
  /** Length at the time of reading. data_length() returns the current length; current() sets it for another program. */
  u64 length;
  u8 *data;
  u8 *owner;
  u64 rent_epoch;
  u8 is_signer;
  u8 is_writable;
  u8 is_executable;
};

struct call {
  struct account accounts[ACCOUNTS_MAX];
  u64 account_count;
  const u8 *data;
  u64 data_length;
  const u8 *program;
};

/** A slice of memory: a seed of an address, or a part of hashed data. */
struct slice {
  const void *at;
  u64 length;
};

struct signer {
  const struct slice *seeds;
  u64 seed_count;
};

struct account_use {
  const u8 *key;
  u8 is_writable;
  u8 is_signer;
};

struct instruction {
  const u8 *program;
  const struct account_use *accounts;
  u64 account_count;
  const u8 *data;
  u64 data_length;
};

extern u64 sol_sha256(const struct slice *parts, u64 part_count, u8 *hash);
extern u64 sol_get_clock_sysvar(void *clock);
extern u64 sol_get_rent_sysvar(void *rent);
extern u64 sol_try_find_program_address(const struct slice *seeds, u64 count, const u8 *program, u8 *address, u8 *bump);
extern u64 sol_invoke_signed_c(const struct instruction *instruction, const struct account *accounts, u64 account_count,
                               const struct signer *signers, u64 signer_count);
extern void sol_set_return_data(const u8 *data, u64 length);
extern void sol_memcpy_(void *to, const void *from, u64 length);
extern void sol_memset_(void *at, u8 value, u64 length);
extern void sol_memcmp_(const void *left, const void *right, u64 length, int *result);

/** Errors of the runtime that these programs return. */
#define ERROR_INVALID_ARGUMENT (2ULL << 32)
#define ERROR_INVALID_INSTRUCTION_DATA (3ULL << 32)
#define ERROR_MISSING_SIGNATURE (8ULL << 32)
#define ERROR_NOT_ENOUGH_ACCOUNTS (11ULL << 32)


/** Returns the error of an expression from the function, if any. */
#define TRY(expression)                                                                                                \
  do {                                                                                                                 \
    const u64 error_ = (expression);                                                                                   \
    if (error_ != 0) return error_;                                                                                    \
  } while (0)

#define REQUIRE(condition, error)                                                                                      \
  do {                                                                                                                 \
    if (!(condition)) return (error);                                                                                  \
  } while (0)

/** Owner of accounts that contain only lamports: the system program. */
static const u8 SYSTEM_PROGRAM[KEY_BYTES] = {0};

static inline int equal_keys(const u8 *left, const u8 *right) {
  return U64_AT(left) == U64_AT(right) && U64_AT(left + 8) == U64_AT(right + 8) &&
         U64_AT(left + 16) == U64_AT(right + 16) && U64_AT(left + 24) == U64_AT(right + 24);
}

static inline int equal_bytes(const void *left, const void *right, u64 length) {
  int difference = 1;
  sol_memcmp_(left, right, length, &difference);
  return difference == 0;
}

static inline void copy_key(u8 *to, const u8 *from) {
  U64_AT(to) = U64_AT(from);
  U64_AT(to + 8) = U64_AT(from + 8);
  U64_AT(to + 16) = U64_AT(from + 16);
  U64_AT(to + 24) = U64_AT(from + 24);
}

/** The runtime stores an account's length immediately before its data, and updates it there. */
static inline u64 data_length(const struct account *account) { return U64_AT(account->data - 8); }

/** Returns the account for a call to another program, with its current length. */
static inline struct account current(const struct account *account) {
  struct account now = *account;
  now.length = data_length(account);
  return now;
}

/** Free bytes after an account's data, into which the account can grow. */
#define ROOM_TO_GROW 10240

/** Parses the loader's input. A repeated account refers to its first occurrence. */
static u64 read_call(u8 *input, struct call *call) {
  const u64 count = U64_AT(input);
  REQUIRE(count <= ACCOUNTS_MAX, ERROR_INVALID_ARGUMENT);
  u8 *at = input + 8;
  for (u64 index = 0; index < count; index++) {
    struct account *account = &call->accounts[index];
    if (*at != 0xff) {
      *account = call->accounts[*at];
      at += 8;
      continue;
    }
    account->is_signer = at[1];
    account->is_writable = at[2];
    account->is_executable = at[3];
    account->key = at + 8;
    account->owner = at + 40;
    account->lamports = (u64 *)(at + 72);
    account->length = U64_AT(at + 80);
    account->data = at + 88;
    at = (u8 *)(((u64)account->data + account->length + ROOM_TO_GROW + 7) & ~7ULL);
    account->rent_epoch = U64_AT(at);
    at += 8;
  }
  call->account_count = count;
  call->data_length = U64_AT(at);
  call->data = at + 8;
  call->program = at + 8 + call->data_length;
  return 0;
}

/** Unix seconds, as agreed by the validators. */
static inline i64 now_seconds(void) {
  struct {
    u64 slot;
    i64 epoch_start;
    u64 epoch;
    u64 next_epoch;
    i64 unix_seconds;
  } clock;
  sol_get_clock_sysvar(&clock);
  return clock.unix_seconds;
}
