// Queries to an on-chain policy registry, the same for every chain family. Source: decisions §4, "Project";
// §6.
import type { JsonRpc } from './json-rpc.ts'

export interface ChainRegistry {
  /** @throws RpcFailedError when the URL serves another chain */
  verify(rpc: JsonRpc): Promise<void>
  /**
   * The policy id that a contract or program (canonical address) carries; null when it carries none.
   * @throws RpcFailedError when there is no registry at its address, or what it says can't be read
   */
  policyId(rpc: JsonRpc, address: string): Promise<string | null>
  /** Whether something that can be the registry is deployed at its address. */
  isDeployed(rpc: JsonRpc): Promise<boolean>
  /** @throws as policyId */
  isAttesterRegistered(rpc: JsonRpc, attester: string): Promise<boolean>
  /** All registered attesters; null where the chain can't list them. @throws as policyId */
  registeredAttesters(rpc: JsonRpc): Promise<readonly string[] | null>
  /** Unix seconds of the latest block. */
  latestBlockSeconds(rpc: JsonRpc): Promise<number>
}

/** Returns a text only if it can be a project's verification hash; a registry may hold anything. */
export const plausiblePolicyId = (text: string): string | null => (/^[\x21-\x7e]{1,64}$/.test(text) ? text : null)
