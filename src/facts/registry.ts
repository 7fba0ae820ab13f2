// Queries to an on-chain policy registry, for all chain families (decisions §4, "Project"; §6).
import type { JsonRpc } from './json-rpc.ts'

export interface ChainRegistry {
  /** @throws RpcFailedError if the URL serves another chain */
  verify(rpc: JsonRpc): Promise<void>
  /**
   * Returns the policy id of a contract or program (canonical address). Null if it has none.
   * @throws RpcFailedError if the address has no registry, or its answer is invalid
   */
  policyId(rpc: JsonRpc, address: string): Promise<string | null>
  /** Reports whether the registry's address has code. */
  isDeployed(rpc: JsonRpc): Promise<boolean>
  isAttesterRegistered(rpc: JsonRpc, attester: string): Promise<boolean>
  /** Null if the chain cannot list attesters. @throws the errors of policyId */
  registeredAttesters(rpc: JsonRpc): Promise<readonly string[] | null>
  latestBlockSeconds(rpc: JsonRpc): Promise<number>
}

/** A registry may contain any text. Returns null unless the text can be a verification hash. */
export const plausiblePolicyId = (text: string): string | null => (/^[\x21-\x7e]{1,64}$/.test(text) ? text : null)
