// What a policy registry on a chain is asked, the same for every family of chains. Source: decisions §4, "Project"; §6.
import type { JsonRpc } from './json-rpc.ts'

export interface ChainRegistry {
  /** @throws RpcFailedError when the URL serves another chain */
  verify(rpc: JsonRpc): Promise<void>
  /**
   * The policy id that a contract or program (canonical address) carries; null when it carries none.
   * @throws RpcFailedError when there is no registry at its address, or what it says can't be read
   */
  policyId(rpc: JsonRpc, address: string): Promise<string | null>
  /** Whether something is at the registry's address that can be one. */
  isDeployed(rpc: JsonRpc): Promise<boolean>
  /** @throws as policyId */
  isAttesterRegistered(rpc: JsonRpc, attester: string): Promise<boolean>
  /** All that are registered; null where the chain can't tell. @throws as policyId */
  registeredAttesters(rpc: JsonRpc): Promise<readonly string[] | null>
  /** Unix seconds of the latest block. */
  latestBlockSeconds(rpc: JsonRpc): Promise<number>
}

/** What a project's verification hash can be. Anything else names none of ours, whatever a registry says. */
export const plausiblePolicyId = (text: string): string | null => (/^[\x21-\x7e]{1,64}$/.test(text) ? text : null)
