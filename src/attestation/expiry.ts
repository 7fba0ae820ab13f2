// Computes when a v1 task expires (decisions §3): at a block number, or at a time in Unix seconds where the chain has
// no block source or is configured for seconds, because the newest public v1 contract compares with `block.timestamp`.
import { LIFETIME_SECONDS_MAX } from '../domain/attestation.ts'
import type { BlockHeightSource } from '../facts/block-height.ts'

export interface Expiry {
  /** The value that is signed: a block number or Unix seconds. */
  readonly expiration: number
  /** The minimum number of seconds from now until then. */
  readonly lifetimeSeconds: number
}

export interface TaskExpiry {
  /** Like `after`, but without asking the chain; null when the chain has to be asked. */
  known(chainName: string, nowSeconds: number, lifetimeSeconds: number): Expiry | null
  /**
   * @throws DependencyUnavailableError when the chain counts in blocks and its height can't be read.
   */
  after(chainName: string, nowSeconds: number, lifetimeSeconds: number): Promise<Expiry>
}

export interface BlockPace {
  /** Null: as many blocks as fit into the project's attestation lifetime. */
  readonly blocks: number | null
  readonly blockTimeMs: number
}

export interface BlockExpiry extends BlockPace {
  readonly height: BlockHeightSource
}

const blocksWithin = ({ blocks, blockTimeMs }: BlockPace, lifetimeSeconds: number): number =>
  blocks ?? Math.max(1, Math.ceil((lifetimeSeconds * 1000) / blockTimeMs))

/** Blocks are often late and seldom early: twice their nominal time leaves room for both. */
const secondsOf = (blocks: number, { blockTimeMs }: BlockPace): number => Math.ceil((2 * blocks * blockTimeMs) / 1000)

/**
 * The maximum number of seconds for which a task that expires at a block can be used, whatever its project's lifetime.
 */
export const longestTaskSeconds = (pace: BlockPace): number => secondsOf(blocksWithin(pace, LIFETIME_SECONDS_MAX), pace)

/** @param blockChains the chains whose tasks expire at a block */
export const createTaskExpiry = (blockChains: ReadonlyMap<string, BlockExpiry>): TaskExpiry => {
  const afterBlock = (height: number, chain: BlockExpiry, lifetimeSeconds: number): Expiry => {
    const blocks = blocksWithin(chain, lifetimeSeconds)
    return { expiration: height + blocks, lifetimeSeconds: secondsOf(blocks, chain) }
  }
  const known: TaskExpiry['known'] = (chainName, nowSeconds, lifetimeSeconds) => {
    const chain = blockChains.get(chainName)
    if (chain === undefined) return { expiration: nowSeconds + lifetimeSeconds, lifetimeSeconds }
    const height = chain.height.known()
    return height === null ? null : afterBlock(height, chain, lifetimeSeconds)
  }
  return {
    known,
    after: async (chainName, nowSeconds, lifetimeSeconds) => {
      const chain = blockChains.get(chainName)
      if (chain === undefined) return { expiration: nowSeconds + lifetimeSeconds, lifetimeSeconds }
      return afterBlock(await chain.height.latest(), chain, lifetimeSeconds)
    },
  }
}

/**
 * Milliseconds between blocks: decides how long a height is cached, and how many blocks a lifetime has. Source: each
 * chain's documentation (and viem's chain definitions). A chain that is not listed is assumed to be as fast as the
 * common rollups.
 */
export const BLOCK_TIME_MS: Readonly<Record<string, number>> = {
  ethereum: 12_000,
  sepolia: 12_000,
  base: 2_000,
  worldchain: 2_000,
  arbitrum: 250,
  plume: 250,
  bsc: 750,
  hyperliquid: 1_000,
  plasma: 1_000,
  megaeth: 1_000,
  'megaeth-testnet': 1_000,
}

export const BLOCK_TIME_MS_DEFAULT = 2_000

/**
 * Chains whose contracts see another `block.number` than their RPC returns: on Arbitrum and chains built like it,
 * contracts see the parent chain's. A task that expires at the chain's own height would be valid for years, so these
 * chains use seconds. Source:
 * https://docs.arbitrum.io/build-decentralized-apps/arbitrum-vs-ethereum/block-numbers-and-time
 */
export const PARENT_BLOCK_CHAINS: ReadonlySet<string> = new Set(['arbitrum', 'plume'])
