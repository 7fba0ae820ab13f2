// Requires that the Ed25519 program's instruction immediately before the current one checked this signature by this key
// over this message. A transaction with an invalid signature fails before this check.
// Source: https://solana.com/docs/core/programs/precompiles, the layout of the instructions sysvar.
#pragma once
#include "state.h"

static const u8 INSTRUCTIONS_SYSVAR[KEY_BYTES] = {
    0x06, 0xa7, 0xd5, 0x17, 0x18, 0x7b, 0xd1, 0x66, 0x35, 0xda, 0xd4, 0x04, 0x55, 0xfd, 0xc2, 0xc0,
    0xc1, 0x24, 0xc6, 0x8f, 0x21, 0x56, 0x75, 0xa5, 0xdb, 0xba, 0xcb, 0x5f, 0x08, 0x00, 0x00, 0x00};

static const u8 ED25519_PROGRAM[KEY_BYTES] = {
    0x03, 0x7d, 0x46, 0xd6, 0x7c, 0x93, 0xfb, 0xbe, 0x12, 0xf9, 0x42, 0x8f, 0x83, 0x8d, 0x40, 0xff,
    0x05, 0x70, 0x74, 0x49, 0x27, 0xf4, 0x8a, 0x64, 0xfc, 0xca, 0x70, 0x44, 0x80, 0x00, 0x00, 0x00};

#define SIGNATURE_BYTES 64
#define MESSAGE_BYTES 32
/** Number of signatures, padding, then seven u16. */
#define ED25519_HEADER 16
/** Refers to the instruction that contains it. */
#define THIS_INSTRUCTION 0xffff

static u64 require_checked_signature(const struct account *sysvar, const u8 *signature, const u8 *key,
                                     const u8 *message) {
  REQUIRE(equal_keys(sysvar->key, INSTRUCTIONS_SYSVAR), ERROR_INVALID_ACCOUNT_DATA);
  // Number of instructions, their offsets, the instructions, and the index of the current one.
  const u64 total = data_length(sysvar);
  REQUIRE(total >= 4, ERROR_INVALID_ACCOUNT_DATA);
  const u64 running = U16_AT(sysvar->data + total - 2);
  REQUIRE(running > 0 && running < U16_AT(sysvar->data), ERROR_INVALID_SIGNATURE);
  const u64 begins = U16_AT(sysvar->data + 2 * running);
  // Number of accounts (zero), the program, length of the data, the data.
  const u64 data_at = begins + 2 + KEY_BYTES + 2;
  REQUIRE(data_at + ED25519_HEADER <= total, ERROR_INVALID_SIGNATURE);
  REQUIRE(U16_AT(sysvar->data + begins) == 0, ERROR_INVALID_SIGNATURE);
  REQUIRE(equal_keys(sysvar->data + begins + 2, ED25519_PROGRAM), ERROR_INVALID_SIGNATURE);
  const u64 length = U16_AT(sysvar->data + data_at - 2);
  REQUIRE(length >= ED25519_HEADER && data_at + length <= total, ERROR_INVALID_SIGNATURE);

  const u8 *data = sysvar->data + data_at;
  const u64 signature_at = U16_AT(data + 2), key_at = U16_AT(data + 6), message_at = U16_AT(data + 10);
  REQUIRE(data[0] == 1 && U16_AT(data + 12) == MESSAGE_BYTES, ERROR_INVALID_SIGNATURE);
  REQUIRE(U16_AT(data + 4) == THIS_INSTRUCTION && U16_AT(data + 8) == THIS_INSTRUCTION &&
              U16_AT(data + 14) == THIS_INSTRUCTION,
          ERROR_INVALID_SIGNATURE);
  REQUIRE(signature_at >= ED25519_HEADER && signature_at + SIGNATURE_BYTES <= length, ERROR_INVALID_SIGNATURE);
  REQUIRE(key_at >= ED25519_HEADER && key_at + KEY_BYTES <= length, ERROR_INVALID_SIGNATURE);
  REQUIRE(message_at >= ED25519_HEADER && message_at + MESSAGE_BYTES <= length, ERROR_INVALID_SIGNATURE);
  REQUIRE(equal_bytes(data + signature_at, signature, SIGNATURE_BYTES), ERROR_INVALID_SIGNATURE);
  REQUIRE(equal_keys(data + key_at, key), ERROR_INVALID_SIGNATURE);
  return equal_keys(data + message_at, message) ? 0 : ERROR_INVALID_SIGNATURE;
}
