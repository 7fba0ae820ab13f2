// v1's `expiry_block` as this deployment has it: chains with an RPC URL count blocks, the others seconds (decisions §3).
import {
  BLOCK_TIME_MS,
  BLOCK_TIME_MS_DEFAULT,
  type BlockExpiry,
  createTaskExpiry,
  PARENT_BLOCK_CHAINS,
} from '../attestation/expiry.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../domain/time.ts'
import { createBlockHeightSource } from '../facts/block-height.ts'

/** An RPC that takes longer than this is asked no more; the deadline of a request may be shorter. */
const RPC_TIMEOUT_MS = 5_000

export const createExpiry = (config: Config, clock: Clock) => {
  const blockChains = new Map<string, BlockExpiry>()
  for (const [chainName, settings] of config.chainSettings) {
    if (settings.rpcUrls === undefined || settings.expiryUnit === 'seconds') continue
    if (settings.expiryUnit === undefined && PARENT_BLOCK_CHAINS.has(chainName)) continue
    const blockTimeMs = settings.blockTimeMs ?? BLOCK_TIME_MS[chainName] ?? BLOCK_TIME_MS_DEFAULT
    blockChains.set(chainName, {
      height: createBlockHeightSource({
        chainName,
        rpcUrls: settings.rpcUrls,
        blockTimeMs,
        timeoutMs: RPC_TIMEOUT_MS,
        clock,
      }),
      blocks: settings.expiryBlocks ?? null,
      blockTimeMs,
    })
  }
  return createTaskExpiry(blockChains)
}
