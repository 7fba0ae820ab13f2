// Stores wallets and uuids as 64-bit numbers: 8 bytes per row instead of 40. The log resolves collisions.

/** XXH64 is a fixed algorithm, so stored hashes stay valid. */
export const walletKey = (wallet: string): bigint => BigInt.asIntN(64, Bun.hash.xxHash64(wallet))

export const uuidKey = (uuid: string): bigint =>
  BigInt.asIntN(64, BigInt(`0x${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(14, 18)}`))
