// What A1 and A2 share on their way to the pool: who asks, and which target decides.
import type { WalletAddress } from '../domain/address.ts'
import { PolicyMissingError } from '../domain/errors.ts'
import type { Target } from '../domain/target.ts'
import type { Catalog } from '../policy/catalog.ts'

/** Who asks, and what stays the same over every try of this request. */
export interface CallContext {
  readonly organizationId: string
  readonly keyId: string
  readonly requestId: string
  /** The attestation's uuid or the task's id (invariant 3). */
  readonly uuid: string
  /** Absolute, monotonic milliseconds (invariant 4). */
  readonly deadlineMs: number
}

/** The complete body of a 200. */
export interface CallAnswer {
  readonly body: string
  readonly compliant: boolean
  readonly chainName: string
  /** How long a repeated idempotency key is answered with it. */
  readonly lifetimeSeconds: number
}

/** @throws PolicyMissingError (spec, Errors row 1), also for what another organization owns. */
export const requireBinding = async (
  catalog: Catalog,
  organizationId: string,
  chainName: string,
  address: WalletAddress,
  addressAsSent: string,
): Promise<Target> => {
  const found = catalog.resolveBinding(organizationId, chainName, address)
  const target = found instanceof Promise ? await found : found
  if (target === null) throw new PolicyMissingError('address', addressAsSent)
  return target
}

/** @throws PolicyMissingError, as requireBinding. */
export const requireProject = async (
  catalog: Catalog,
  organizationId: string,
  verificationHash: string,
): Promise<Target> => {
  const found = catalog.resolveProject(organizationId, verificationHash)
  const target = found instanceof Promise ? await found : found
  if (target === null) throw new PolicyMissingError('verification hash', verificationHash)
  return target
}
