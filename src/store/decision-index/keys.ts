// Wallets and uuids as 64-bit numbers: eight bytes in a row instead of forty. Two that share a number are told apart by
// what the log says of them, so a clash costs a line read and never a wrong answer.

/** XXH64 is defined to the bit, so numbers stay what they are. */
export const walletKey = (wallet: string): bigint => BigInt.asIntN(64, Bun.hash.xxHash64(wallet))

/** The first half of a uuid's bits. */
export const uuidKey = (uuid: string): bigint =>
  BigInt.asIntN(64, BigInt(`0x${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(14, 18)}`))
