// Unit of v1's `expiry_block`: blocks for chains with an RPC URL, seconds for others (decisions §3).
import {
  BLOCK_TIME_MS,
  BLOCK_TIME_MS_DEFAULT,
  type BlockExpiry,
  type BlockPace,
  createTaskExpiry,
  longestTaskSeconds,
  PARENT_BLOCK_CHAINS,
} from '../attestation/expiry.ts'
import type { Config } from '../config/config.ts'
import { LIFETIME_SECONDS_MAX } from '../domain/attestation.ts'
import { createBlockHeightSource } from '../facts/block-height.ts'
import type { Clock } from '../lib/time.ts'
import { reportSeconds } from '../setup/expiry-unit.ts'
import type { Logger } from '../telemetry/log.ts'

/** Timeout per RPC URL; a request's deadline may be shorter. */
const RPC_TIMEOUT_MS = 5_000

/** Returns the chains whose tasks expire by block number. */
const readPaces = ({ chainSettings }: Pick<Config, 'chainSettings'>) => {
  const paces = new Map<string, BlockPace & { readonly rpcUrls: readonly string[] }>()
  for (const [chainName, settings] of chainSettings) {
    const { rpcUrls, expiryUnit, expiryBlocks } = settings
    if (rpcUrls === undefined || expiryUnit === 'seconds') continue
    if (expiryUnit === undefined && PARENT_BLOCK_CHAINS.has(chainName)) continue
    const blockTimeMs = settings.blockTimeMs ?? BLOCK_TIME_MS[chainName] ?? BLOCK_TIME_MS_DEFAULT
    paces.set(chainName, { rpcUrls, blocks: expiryBlocks ?? null, blockTimeMs })
  }
  return paces
}

/** Returns the longest validity of an attestation or task after signing, in seconds. */
export const longestUse = (config: Pick<Config, 'chainSettings'>): number =>
  Math.max(LIFETIME_SECONDS_MAX, ...[...readPaces(config).values()].map(longestTaskSeconds))

export const createExpiry = (config: Config, clock: Clock, log: Logger) => {
  const blockChains = new Map<string, BlockExpiry>()
  for (const [chainName, { rpcUrls, blocks, blockTimeMs }] of readPaces(config)) {
    const height = createBlockHeightSource({ chainName, rpcUrls, blockTimeMs, timeoutMs: RPC_TIMEOUT_MS, clock })
    blockChains.set(chainName, { height, blocks, blockTimeMs })
  }
  return createTaskExpiry(blockChains, reportSeconds(config, log))
}
