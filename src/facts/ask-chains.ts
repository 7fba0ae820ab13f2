// Queries the nodes of the request's chain: one query per chain and key in flight, answers cached for a block time.
import type { AttestationRequest } from '../domain/attestation.ts'
import { verifyChain } from './evm-registry.ts'
import type { FactFetcher, FetchContext } from './fact-fetcher.ts'
import { createJsonRpc } from './json-rpc.ts'
import { createRemote } from './remote.ts'
import { createRpcChoice, type RpcChoice } from './rpc-choice.ts'

const KEPT_MAX = 10_000
const UNDER_WAY_MAX = 256
const WAITING_MAX = 256

/**
 * @param read queries the nodes of one chain; receives only the key, under which the answer is cached
 * @param keyOf key, such as the wallet; omitted if the answer depends only on the chain
 */
export const askChains = <Answer extends {}>(
  { chains, timeoutMs, clock, onError, connect = (url) => createJsonRpc({ url, timeoutMs }) }: FetchContext,
  read: (nodes: RpcChoice, key: string) => Promise<Answer>,
  keyOf?: (request: AttestationRequest) => string,
): FactFetcher<Answer> => {
  const asked = new Map(
    chains.map(({ name, chainId, rpcUrls, blockTimeMs }) => {
      const nodes = createRpcChoice({
        rpcs: rpcUrls.map(connect),
        verify: verifyChain(chainId),
        agreement: 1,
        clock,
        onError: (error, index) => onError(error, name, rpcUrls[index] ?? null),
      })
      const remote = createRemote<Answer>({
        clock,
        keepMs: blockTimeMs,
        keptMax: keyOf === undefined ? 1 : KEPT_MAX,
        underWayMax: UNDER_WAY_MAX,
        waitingMax: WAITING_MAX,
        onError: (error) => onError(error, name, null),
      })
      return [name, { nodes, remote }]
    }),
  )
  return {
    ask: (subject) => {
      const { request } = subject
      const chain = asked.get(request.chain.name)
      const key = keyOf?.(request) ?? ''
      return chain === undefined ? null : chain.remote.ask(key, () => read(chain.nodes, key), subject)
    },
    serverOf: ({ request }) => request.chain.name,
    counts: () => new Map([...asked].map(([name, { remote }]) => [name, remote.counts()])),
  }
}
