// On-chain policy registries of all chain families (decisions §4, "Project"; §6).
import type { JsonRpc } from './json-rpc.ts'

export interface ChainRegistry {
  /** @throws RpcFailedError if the URL serves another chain */
  verify(rpc: JsonRpc): Promise<void>
  /**
   * Returns the policy id of a canonical address; null if there is none. @throws RpcFailedError if there is no registry
   * or no valid answer
   */
  policyId(rpc: JsonRpc, address: string): Promise<string | null>
  /** Returns whether the registry's address has code. */
  isDeployed(rpc: JsonRpc): Promise<boolean>
  isAttesterRegistered(rpc: JsonRpc, attester: string): Promise<boolean>
  /** Returns null if the chain can't list attesters. @throws RpcFailedError */
  registeredAttesters(rpc: JsonRpc): Promise<readonly string[] | null>
  latestBlockSeconds(rpc: JsonRpc): Promise<number>
}

/** A registry may contain any text. Null unless the text can be a verification hash. */
export const plausiblePolicyId = (text: string): string | null => (/^[\x21-\x7e]{1,64}$/.test(text) ? text : null)
