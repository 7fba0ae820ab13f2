// A contract that is bound to no project here may name its project on its own chain, in the policy registry (decisions
// §4). What it names counts only if it is the calling organization's: another's is as unknown as none (Errors row 1).
import type { PolicyRegistries } from '../facts/policy-registries.ts'
import type { Catalog } from '../policy/catalog.ts'

/** The catalog, with contracts and programs looked up on their chains where it knows no binding of its own. */
export const withRegistries = (catalog: Catalog, registries: PolicyRegistries): Catalog => {
  const fromChain = (
    organizationId: string,
    chainName: string,
    address: string,
  ): ReturnType<Catalog['resolveBinding']> => {
    const policyId = registries.policyIdOf(chainName, address)
    const ofPolicy = (verificationHash: string | null) =>
      verificationHash === null ? null : catalog.resolveProject(organizationId, verificationHash)
    return policyId instanceof Promise ? policyId.then(ofPolicy) : ofPolicy(policyId)
  }
  return {
    ...catalog,
    resolveBinding: (organizationId, chainName, address) => {
      const bound = catalog.resolveBinding(organizationId, chainName, address)
      if (!(bound instanceof Promise)) return bound ?? fromChain(organizationId, chainName, address)
      return bound.then((target) => target ?? fromChain(organizationId, chainName, address))
    },
  }
}
