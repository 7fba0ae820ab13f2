import type { BaseFeeFacts } from '../../policy/sources/base-fee.ts'
import { askChains } from '../ask-chains.ts'
import { quantityOf } from '../chain-endpoint.ts'
import type { OpenFactFetcher } from '../fact-fetcher.ts'
import { type JsonRpc, RpcFailedError } from '../json-rpc.ts'

/** Returns null for a block before EIP-1559. */
const readBaseFee = async (rpc: JsonRpc): Promise<string | null> => {
  const block = await rpc.request('eth_getBlockByNumber', ['latest', false])
  if (typeof block !== 'object' || block === null)
    throw new RpcFailedError('the RPC endpoint returned an invalid response')
  const { baseFeePerGas: fee } = block as { readonly baseFeePerGas?: unknown }
  return fee === undefined || fee === null ? null : quantityOf(fee).toString()
}

export const askBaseFee: OpenFactFetcher<BaseFeeFacts> = (context) =>
  askChains(context, async (nodes) => ({ wei: await nodes.ask(readBaseFee) }))
