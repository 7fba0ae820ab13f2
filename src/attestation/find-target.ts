// Finds the target of a request: the project that it names, or the project of its contract or program. Contracts
// without a binding are looked up in the policy registry on their chain (decisions §4).
import type { AttestationRequest } from '../domain/attestation.ts'
import { PolicyMissingError } from '../domain/errors.ts'
import type { PolicyRegistries } from '../facts/policy-registries.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { ResolvedTarget } from '../policy/types/source.ts'
import type { DecodedRequest } from './schema.ts'

export interface TargetDependencies {
  readonly catalog: Pick<Catalog, 'resolveBinding' | 'resolveProject'>
  readonly registries: PolicyRegistries
}

type FoundTarget = ReturnType<Catalog['resolveProject']>

/** The registry's project counts only if the calling organization owns it. */
const findInRegistry = (
  { catalog, registries }: TargetDependencies,
  organizationId: string,
  { chain, to }: AttestationRequest,
): FoundTarget => {
  const policyId = registries.policyIdOf(organizationId, chain.name, to)
  const ofPolicy = (verificationHash: string | null) =>
    verificationHash === null ? null : catalog.resolveProject(organizationId, verificationHash)
  return policyId instanceof Promise ? policyId.then(ofPolicy) : ofPolicy(policyId)
}

const findBound = (
  dependencies: TargetDependencies,
  organizationId: string,
  request: AttestationRequest,
): FoundTarget => {
  const bound = dependencies.catalog.resolveBinding(organizationId, request.chain.name, request.to)
  if (bound instanceof Promise)
    return bound.then((target) => target ?? findInRegistry(dependencies, organizationId, request))
  return bound ?? findInRegistry(dependencies, organizationId, request)
}

const required = (target: ResolvedTarget | null, { targetBy, targetText }: DecodedRequest): ResolvedTarget => {
  if (target === null) throw new PolicyMissingError(targetBy, targetText)
  return target
}

/** Synchronous if cached. @throws PolicyMissingError (spec, Errors row 1), also for another organization's target */
export const findTarget = (
  dependencies: TargetDependencies,
  decoded: DecodedRequest,
  organizationId: string,
): ResolvedTarget | Promise<ResolvedTarget> => {
  const { request, targetBy, targetText } = decoded
  const found =
    targetBy === 'address'
      ? findBound(dependencies, organizationId, request)
      : dependencies.catalog.resolveProject(organizationId, targetText)
  return found instanceof Promise ? found.then((target) => required(target, decoded)) : required(found, decoded)
}
