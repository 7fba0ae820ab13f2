import type { Hex } from 'viem'
import { hexOf, numberOf, requireChain } from './chain-endpoint.ts'
import { type JsonRpc, RpcFailedError } from './json-rpc.ts'
import { type ChainRegistry, plausiblePolicyId } from './registry.ts'

const ABI = [
  'function getPolicyID(address client) view returns (string policyID)',
  'function isAttesterRegistered(address attester) view returns (bool isRegistered)',
  'function getRegisteredAttesters() view returns (address[] attesters)',
] as const

type Question =
  | { readonly functionName: 'getPolicyID'; readonly args: readonly [Hex] }
  | { readonly functionName: 'isAttesterRegistered'; readonly args: readonly [Hex] }
  | { readonly functionName: 'getRegisteredAttesters' }

export const verifyChain =
  (chainId: number) =>
  async (rpc: JsonRpc): Promise<void> =>
    requireChain(await rpc.request('eth_chainId', []), chainId)

export const createEvmRegistry = (chainId: number, address: string): ChainRegistry => {
  const read = async (rpc: JsonRpc, question: Question): Promise<unknown> => {
    // Loaded on first use: most deployments query no registry.
    const { decodeFunctionResult, encodeFunctionData, parseAbi } = await import('viem')
    const abi = parseAbi(ABI)
    const data = encodeFunctionData({ abi, ...question })
    const answer = hexOf(await rpc.request('eth_call', [{ to: address, data }, 'latest']))
    try {
      return decodeFunctionResult({ abi, functionName: question.functionName, data: answer })
    } catch {
      throw new RpcFailedError('there is no policy registry at the configured address')
    }
  }
  return {
    verify: verifyChain(chainId),
    policyId: async (rpc, contract) =>
      plausiblePolicyId(String(await read(rpc, { functionName: 'getPolicyID', args: [contract as Hex] }))),
    isDeployed: async (rpc) => hexOf(await rpc.request('eth_getCode', [address, 'latest'])).length > 2,
    isAttesterRegistered: async (rpc, attester) =>
      (await read(rpc, { functionName: 'isAttesterRegistered', args: [attester as Hex] })) === true,
    registeredAttesters: async (rpc) => (await read(rpc, { functionName: 'getRegisteredAttesters' })) as string[],
    latestBlockSeconds: async (rpc) => {
      const block = await rpc.request('eth_getBlockByNumber', ['latest', false])
      return numberOf((block as { timestamp?: unknown } | null)?.timestamp)
    },
  }
}
