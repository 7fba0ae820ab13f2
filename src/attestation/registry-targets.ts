// Resolves contracts without a binding through the policy registry on their chain (decisions §4). The registry's
// project counts only if the calling organization owns it; other projects are treated as unknown (Errors row 1).
import type { PolicyRegistries } from '../facts/policy-registries.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'

/** Extends the catalog with a look-up on the chain for contracts and programs without a binding. */
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
