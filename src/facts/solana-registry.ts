// Policy registry program of a Solana cluster. Seeds: decisions §6. Account layout (Anchor): discriminator, then fields
// in order; strings have a u32 length.
import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import { type JsonRpc, RpcFailedError } from './json-rpc.ts'
import { type ChainRegistry, plausiblePolicyId } from './registry.ts'

export const MAINNET_GENESIS_HASH = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

/** `confirmed`: a supermajority of the stake has voted for the block. */
const CONFIRMED = { encoding: 'base64', commitment: 'confirmed' } as const

const discriminator = (account: string): Buffer =>
  createHash('sha256').update(`account:${account}`).digest().subarray(0, 8)
const POLICY_ACCOUNT = discriminator('PolicyAccount')
const ATTESTER_ACCOUNT = discriminator('AttesterAccount')

const KEY_BYTES = 32
/** Offset after discriminator, program and authority. */
const POLICY_LENGTH_AT = 8 + 2 * KEY_BYTES
/** Offset after discriminator and attester. */
const REGISTERED_AT = 8 + KEY_BYTES

const malformed = (): never => {
  throw new RpcFailedError('an account of the registry has an invalid layout')
}

interface Account {
  readonly owner: string
  readonly executable: boolean
  readonly data: Buffer
}

const parseAccount = (result: unknown): Account | null => {
  const value = (result as { value?: unknown } | null)?.value
  if (value === null) return null
  const { owner, executable, data } = (value ?? {}) as Readonly<Record<string, unknown>>
  const [text, encoding] = Array.isArray(data) ? data : []
  if (typeof owner !== 'string' || typeof text !== 'string' || encoding !== 'base64') {
    throw new RpcFailedError('the RPC endpoint returned an invalid response')
  }
  return { owner, executable: executable === true, data: Buffer.from(text, 'base64') }
}

/** @param program id of the registry, base58 @param genesisHash of the cluster, base58 */
export const createSolanaRegistry = (program: string, genesisHash: string): ChainRegistry => {
  const readAccount = async (rpc: JsonRpc, address: string): Promise<Account | null> =>
    parseAccount(await rpc.request('getAccountInfo', [address, CONFIRMED]))

  /** Returns the data of the program's account for the seeds; null if it doesn't exist. */
  const readOwn = async (rpc: JsonRpc, seed: string, key: string, kind: Buffer): Promise<Buffer | null> => {
    const { programAddress } = await import('./solana-program-address.ts')
    const address = programAddress(program, [Buffer.from(seed), bs58.decode(key)])
    const account = await readAccount(rpc, address)
    // Anyone can send lamports to an address before the program creates the account.
    if (account === null || account.owner !== program) return null
    if (!account.data.subarray(0, 8).equals(kind)) malformed()
    return account.data
  }

  return {
    verify: async (rpc) => {
      const served = await rpc.request('getGenesisHash', [])
      if (served !== genesisHash) throw new RpcFailedError('the RPC endpoint serves another Solana cluster')
    },
    policyId: async (rpc, target) => {
      const data = await readOwn(rpc, 'policy', target, POLICY_ACCOUNT)
      if (data === null) return null
      if (data.length < POLICY_LENGTH_AT + 4) return malformed()
      if (!data.subarray(8, 8 + KEY_BYTES).equals(bs58.decode(target))) return malformed()
      const length = data.readUInt32LE(POLICY_LENGTH_AT)
      const start = POLICY_LENGTH_AT + 4
      return start + length > data.length
        ? malformed()
        : plausiblePolicyId(data.toString('latin1', start, start + length))
    },
    isDeployed: async (rpc) => (await readAccount(rpc, program))?.executable === true,
    isAttesterRegistered: async (rpc, attester) => {
      const data = await readOwn(rpc, 'attester', attester, ATTESTER_ACCOUNT)
      return data !== null && data[REGISTERED_AT] === 1
    },
    // Requires a scan of all accounts, which public nodes reject.
    registeredAttesters: async () => null,
    latestBlockSeconds: async (rpc) => {
      const slot = await rpc.request('getSlot', [{ commitment: 'confirmed' }])
      const seconds = await rpc.request('getBlockTime', [slot])
      return Number.isSafeInteger(seconds) ? (seconds as number) : malformed()
    },
  }
}
