// Reads the base fee of a chain's latest block (EIP-1559) for policies. At most one request per chain is under way at a
// time, and its answer is cached for one block time. When the fee can't be read, the answer is null.
import type { Clock } from '../domain/time.ts'
import type { BaseFeeFacts } from '../policy/types/facts.ts'
import type { ReadableChain } from './chain-reads.ts'
import type { Ask } from './collect.ts'
import { quantityOf, verifyChain } from './evm-registry.ts'
import { createJsonRpc, type JsonRpc, RpcFailedError } from './json-rpc.ts'
import { createRemote, type RemoteCounts } from './remote.ts'
import { createRpcChoice } from './rpc-choice.ts'

export interface BaseFees {
  readonly ask: Ask<BaseFeeFacts>
  /** Counts by chain name. */
  counts(): ReadonlyMap<string, RemoteCounts>
}

export interface BaseFeesDependencies {
  /** EVM chains only: other chains have no base fee. */
  readonly chains: readonly ReadableChain[]
  readonly timeoutMs: number
  readonly clock: Clock
  /** @param url the URL that failed; null when every URL of the chain failed */
  readonly onError: (error: unknown, chainName: string, url: string | null) => void
  /** Replaced in tests. */
  readonly connect?: (url: string) => JsonRpc
}

/** @returns null for a block from before EIP-1559, which has no base fee */
const readBaseFee = async (rpc: JsonRpc): Promise<string | null> => {
  const block = await rpc.request('eth_getBlockByNumber', ['latest', false])
  if (typeof block !== 'object' || block === null) throw new RpcFailedError('the RPC answered what no node answers')
  const { baseFeePerGas: fee } = block as { readonly baseFeePerGas?: unknown }
  return fee === undefined || fee === null ? null : quantityOf(fee).toString()
}

export const createBaseFees = ({ chains, timeoutMs, clock, onError, connect }: BaseFeesDependencies): BaseFees => {
  const open = connect ?? ((url) => createJsonRpc({ url, timeoutMs }))
  const remotes = new Map(
    chains.map(({ name, chainId, rpcUrls, blockTimeMs }) => {
      const choice = createRpcChoice({
        rpcs: rpcUrls.map(open),
        verify: verifyChain(chainId),
        agreement: 1,
        clock,
        onError: (error, index) => onError(error, name, rpcUrls[index] ?? null),
      })
      const remote = createRemote<BaseFeeFacts>({
        clock,
        keepMs: blockTimeMs,
        keptMax: 1,
        underWayMax: 1,
        onError: (error) => onError(error, name, null),
      })
      const read = async (): Promise<BaseFeeFacts> => ({ wei: await choice.ask(readBaseFee) })
      return [name, { remote, read }]
    }),
  )
  return {
    ask: ({ chainName }) => {
      const chain = remotes.get(chainName)
      return chain === undefined ? null : chain.remote.ask('latest', chain.read)
    },
    counts: () => new Map([...remotes].map(([name, { remote }]) => [name, remote.counts()])),
  }
}
