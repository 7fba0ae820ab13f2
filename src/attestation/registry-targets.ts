// Looks up contracts without a binding here in the policy registry on their own chain (decisions §4). The project that
// the registry names counts only if the calling organization owns it: another organization's project is treated as
// unknown (Errors row 1).
import type { PolicyRegistries } from '../facts/policy-registries.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'

/** The catalog, extended by a look-up on the chain for contracts and programs without a binding. */
export const withRegistries = (catalog: Catalog, registries: PolicyRegistries): Catalog => {
  const fromChain = (
    organizationId: string,
    chainName: string,
    address: string,
  ): ReturnType<Catalog['resolveBinding']> => {
    const policyId = registries.policyIdOf(organizationId, chainName, address)
    const ofPolicy = (verificationHash: string | null) =>
      verificationHash === null ? null : catalog.resolveProject(organizationId, verificationHash)
    return policyId instanceof Promise ? policyId.then(ofPolicy) : ofPolicy(policyId)
  }
  const loadedOrFromChain = async (
    loading: Promise<ResolvedTarget | null>,
    ...binding: Parameters<typeof fromChain>
  ): Promise<ResolvedTarget | null> => (await loading) ?? fromChain(...binding)
  return {
    ...catalog,
    resolveBinding: (organizationId, chainName, address) => {
      const bound = catalog.resolveBinding(organizationId, chainName, address)
      if (bound instanceof Promise) return loadedOrFromChain(bound, organizationId, chainName, address)
      return bound ?? fromChain(organizationId, chainName, address)
    },
  }
}
