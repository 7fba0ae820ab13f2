// Expiry of a v1 task (decisions §3): a block number. It is in Unix seconds if the chain has no block source or is
// configured for seconds, because the newest public v1 contract compares with `block.timestamp`.
import { LIFETIME_SECONDS_MAX } from '../domain/attestation.ts'
import type { BlockHeightSource } from '../facts/block-height.ts'
import type { AttestHandler, DecideRequest, TermsOf } from './attest.ts'

export interface Expiry {
  readonly expiration: number
  readonly lifetimeSeconds: number
}

export interface TaskExpiry {
  /** Like `after`, but null if a request to the chain is necessary. */
  known(chainName: string, nowSeconds: number, lifetimeSeconds: number): Expiry | null
  /** @throws DependencyUnavailableError if the chain uses block numbers and its height cannot be read */
  after(chainName: string, nowSeconds: number, lifetimeSeconds: number): Promise<Expiry>
}

export interface BlockPace {
  /** Blocks until expiry; null for as many as the project's attestation lifetime contains. */
  readonly blocks: number | null
  readonly blockTimeMs: number
}

export interface BlockExpiry extends BlockPace {
  readonly height: BlockHeightSource
}

const blocksWithin = ({ blocks, blockTimeMs }: BlockPace, lifetimeSeconds: number): number =>
  blocks ?? Math.max(1, Math.ceil((lifetimeSeconds * 1000) / blockTimeMs))

/** Twice the nominal time, because blocks are often late and seldom early. */
const secondsOf = (blocks: number, { blockTimeMs }: BlockPace): number => Math.ceil((2 * blocks * blockTimeMs) / 1000)

export const longestTaskSeconds = (pace: BlockPace): number => secondsOf(blocksWithin(pace, LIFETIME_SECONDS_MAX), pace)

export const createTaskExpiry = (
  blockChains: ReadonlyMap<string, BlockExpiry>,
  onSeconds: (chainName: string) => void = () => undefined,
): TaskExpiry => {
  const afterBlock = (height: number, chain: BlockExpiry, lifetimeSeconds: number): Expiry => {
    const blocks = blocksWithin(chain, lifetimeSeconds)
    return { expiration: height + blocks, lifetimeSeconds: secondsOf(blocks, chain) }
  }
  const known: TaskExpiry['known'] = (chainName, nowSeconds, lifetimeSeconds) => {
    const chain = blockChains.get(chainName)
    if (chain === undefined) {
      onSeconds(chainName)
      return { expiration: nowSeconds + lifetimeSeconds, lifetimeSeconds }
    }
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

export const createEvaluateTask = (decide: DecideRequest, expiry: TaskExpiry): AttestHandler => {
  const knownTerms: TermsOf = ({ chain, nowSeconds }, { lifetimeSeconds }) =>
    expiry.known(chain.name, nowSeconds, lifetimeSeconds) ?? { expiration: null, lifetimeSeconds }
  const latestTerms: TermsOf = ({ chain, nowSeconds }, { lifetimeSeconds }) =>
    expiry.after(chain.name, nowSeconds, lifetimeSeconds)
  return async (decoded, context) => {
    const answer = await decide('task', decoded, context, knownTerms)
    if (answer.body !== '') return answer
    // Only a signature needs the latest block. The policy may change while the block is requested, so decide again.
    return decide('task', decoded, context, latestTerms)
  }
}

/** Milliseconds between blocks. Source: each chain's documentation and viem. Other chains count as common rollups. */
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
 * Chains whose contracts see the parent chain's `block.number`. They use seconds, because a task that expires at the
 * chain's own height would be valid for years.
 * https://docs.arbitrum.io/build-decentralized-apps/arbitrum-vs-ethereum/block-numbers-and-time
 */
export const PARENT_BLOCK_CHAINS: ReadonlySet<string> = new Set(['arbitrum', 'plume'])
