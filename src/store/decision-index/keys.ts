// Stores wallets and uuids as 64-bit numbers: eight bytes in a row instead of forty. If two share a number, the line in
// the log distinguishes them, so a collision costs one read and never gives a wrong answer.

/** XXH64 is an exact standard, so stored numbers stay valid. */
export const walletKey = (wallet: string): bigint => BigInt.asIntN(64, Bun.hash.xxHash64(wallet))

/** The first half of a uuid's bits. */
export const uuidKey = (uuid: string): bigint =>
  BigInt.asIntN(64, BigInt(`0x${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(14, 18)}`))
