import { parseAddress, type WalletAddress } from '../domain/address.ts'
import { BUILT_IN_CHAINS, type ChainFamily, type EvmChain } from '../domain/chain.ts'
import { SettingInvalidError } from './settings.ts'

export interface ChainSettings {
  /** RPC URLs in order of preference. */
  readonly rpcUrls?: readonly string[]
  /** Unit of v1 `expiry_block`. Always seconds without an RPC URL; otherwise blocks, except on PARENT_BLOCK_CHAINS. */
  readonly expiryUnit?: 'block' | 'seconds'
  /** Validity of a v1 task in blocks after the latest block. */
  readonly expiryBlocks?: number
  /** Maximum age of the cached block height. */
  readonly blockTimeMs?: number
  /** Canonical address of the registry (contract or program). If omitted, contracts aren't looked up on this chain. */
  readonly registry?: WalletAddress
  /** RPC URLs that must agree on a registry entry. Defaults to 1. */
  readonly rpcAgreement?: number
  /** Solana: genesis hash of the cluster. Defaults to mainnet-beta. */
  readonly genesisHash?: string
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Requires https, or http to loopback: otherwise, the network could observe and change reads. */
export const parseRpcUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null
  const allowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname))
  if (!url || !allowed) throw new Error('must be an https URL, or http to localhost')
  return text
}

const fail = (message: string): never => {
  throw new SettingInvalidError(`config file, chains: ${message}`)
}

const integer = (where: string, value: unknown, minimum: number, maximum: number): number => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < minimum || value > maximum) {
    return fail(`${where} must be a whole number from ${minimum} to ${maximum}`)
  }
  return value
}

const rpcUrls = (where: string, value: unknown): string[] => {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.map((entry) => {
    try {
      return parseRpcUrl(String(entry))
    } catch {
      return fail(`${where} must contain https URLs, or http URLs to localhost`)
    }
  })
}

const address = (where: string, family: ChainFamily, value: unknown): WalletAddress => {
  const parsed = typeof value === 'string' ? parseAddress(family, value) : null
  return parsed ?? fail(`${where} must be a quoted address on the chain`)
}

const genesisHash = (where: string, family: ChainFamily, value: unknown): string => {
  if (family !== 'solana') return fail(`unknown setting ${where}`)
  const parsed = typeof value === 'string' ? parseAddress('solana', value) : null
  return parsed ?? fail(`${where} must be 32 bytes in base58`)
}

const FAMILIES = new Map<string, ChainFamily>(BUILT_IN_CHAINS.map(({ name, family }) => [name, family]))

/** `id` is permitted only for a chain that isn't built in. */
const parseEntry = (name: string, entry: Record<string, unknown>): { settings: ChainSettings; id: number | null } => {
  const family = FAMILIES.get(name) ?? 'evm'
  let settings: ChainSettings = {}
  let id: number | null = null
  for (const [key, value] of Object.entries(entry)) {
    const where = `${name}.${key}`
    if (key === 'id') id = integer(where, value, 1, Number.MAX_SAFE_INTEGER)
    else if (key === 'rpc') settings = { ...settings, rpcUrls: rpcUrls(where, value) }
    else if (key === 'expiry' && (value === 'block' || value === 'seconds'))
      settings = { ...settings, expiryUnit: value }
    else if (key === 'expiry') fail(`${where} must be block or seconds`)
    else if (key === 'expiry-blocks') settings = { ...settings, expiryBlocks: integer(where, value, 1, 1_000_000) }
    else if (key === 'block-time-ms') settings = { ...settings, blockTimeMs: integer(where, value, 50, 600_000) }
    else if (key === 'registry') settings = { ...settings, registry: address(where, family, value) }
    else if (key === 'rpc-agreement') settings = { ...settings, rpcAgreement: integer(where, value, 1, 2) }
    else if (key === 'genesis-hash') settings = { ...settings, genesisHash: genesisHash(where, family, value) }
    else fail(`unknown setting ${where}`)
  }
  if (settings.expiryUnit === 'block' && settings.rpcUrls === undefined)
    fail(`${name}.expiry: block requires ${name}.rpc`)
  return { settings, id }
}

/** Checks the merged RPC URLs of all sources. @throws SettingInvalidError */
export const checkChainSettings = (settings: ReadonlyMap<string, ChainSettings>): void => {
  for (const [name, { rpcUrls = [], registry, rpcAgreement = 1 }] of settings) {
    if (registry !== undefined && rpcUrls.length === 0) fail(`${name}.registry requires ${name}.rpc`)
    if (rpcUrls.length > 0 && rpcUrls.length < rpcAgreement) {
      fail(`${name}.rpc-agreement requires at least ${rpcAgreement} RPC URLs`)
    }
  }
}

/** `chains: { base: { rpc, registry, rpc-agreement, expiry, expiry-blocks, block-time-ms }, mine: { id } }` */
export const parseChainSettings = (value: unknown): { added: EvmChain[]; settings: Map<string, ChainSettings> } => {
  const added: EvmChain[] = []
  const settings = new Map<string, ChainSettings>()
  if (value === undefined || value === null) return { added, settings }
  if (typeof value !== 'object' || Array.isArray(value)) return fail('must be a mapping with chain names as keys')
  const builtIn = new Set(BUILT_IN_CHAINS.map((chain) => chain.name))
  for (const [name, entry] of Object.entries(value)) {
    if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) fail('a chain name must be 1 to 32 characters from a-z, 0-9 and -')
    if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) fail(`${name} must be a mapping`)
    const parsed = parseEntry(name, entry as Record<string, unknown>)
    if (builtIn.has(name) === (parsed.id !== null)) {
      fail(builtIn.has(name) ? `${name} is built in; remove its id` : `${name} requires an id`)
    }
    if (parsed.id !== null) added.push({ name, family: 'evm', chainId: parsed.id })
    settings.set(name, parsed.settings)
  }
  return { added, settings }
}
