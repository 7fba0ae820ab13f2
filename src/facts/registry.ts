// Queries to an on-chain policy registry, for all chain families. Source: decisions §4, "Project"; §6.
import type { JsonRpc } from './json-rpc.ts'

export interface ChainRegistry {
  /** @throws RpcFailedError if the URL serves another chain */
  verify(rpc: JsonRpc): Promise<void>
  /**
   * Returns the policy id of a contract or program (canonical address). Null if it has none.
   * @throws RpcFailedError if the registry's address has no registry, or its answer is invalid
   */
  policyId(rpc: JsonRpc, address: string): Promise<string | null>
  /** Whether the registry's address has code that can be a registry. */
  isDeployed(rpc: JsonRpc): Promise<boolean>
  /** @throws the errors of policyId */
  isAttesterRegistered(rpc: JsonRpc, attester: string): Promise<boolean>
  /** Returns all registered attesters. Null if the chain cannot list them. @throws the errors of policyId */
  registeredAttesters(rpc: JsonRpc): Promise<readonly string[] | null>
  /** Returns the Unix seconds of the latest block. */
  latestBlockSeconds(rpc: JsonRpc): Promise<number>
}

/** Returns the text only if it can be a project's verification hash. A registry may contain any text. */
export const plausiblePolicyId = (text: string): string | null => (/^[\x21-\x7e]{1,64}$/.test(text) ? text : null)
