// Limits the uploads at once: those that arrive, whose bytes their senders may withhold, and those that are opened. One
// session, address or organization can't take what the others need.
import type { EvidenceSession } from '../evidence-types.ts'
import { EvidenceBusyError } from './errors.ts'

export interface UploadLimits {
  /** Each upload holds up to DOCUMENT_BYTES_MAX from its first byte to its end. */
  readonly arriving: number
  readonly arrivingPerOrganization: number
  readonly arrivingPerAddress: number
  readonly arrivingPerSession: number
  /** Scanned, opened and stored. */
  readonly opened: number
  readonly openedPerOrganization: number
}

export const UPLOAD_LIMITS: UploadLimits = {
  arriving: 64,
  arrivingPerOrganization: 16,
  arrivingPerAddress: 8,
  arrivingPerSession: 2,
  opened: 16,
  openedPerOrganization: 8,
}

/** Ends what was acquired. */
type Release = () => void

export const createUploadSlots = (limits: UploadLimits = UPLOAD_LIMITS) => {
  const taken = new Map<string, number>()

  const acquire = (slots: ReadonlyArray<readonly [key: string, maximum: number]>): Release => {
    if (slots.some(([key, maximum]) => (taken.get(key) ?? 0) >= maximum)) throw new EvidenceBusyError()
    for (const [key] of slots) taken.set(key, (taken.get(key) ?? 0) + 1)
    return () => {
      for (const [key] of slots) {
        const left = (taken.get(key) ?? 1) - 1
        if (left === 0) taken.delete(key)
        else taken.set(key, left)
      }
    }
  }

  return {
    /** For an upload, before its body is read. @param address empty if unknown @throws EvidenceBusyError */
    acquireArrival: (
      { organizationId, id }: Pick<EvidenceSession, 'organizationId' | 'id'>,
      address: string,
    ): Release =>
      acquire([
        ['arriving', limits.arriving],
        [`arriving organization ${organizationId}`, limits.arrivingPerOrganization],
        [`arriving address ${address}`, limits.arrivingPerAddress],
        [`arriving session ${id}`, limits.arrivingPerSession],
      ]),
    /** For an upload whose body has arrived. @throws EvidenceBusyError */
    acquireOpening: ({ organizationId }: Pick<EvidenceSession, 'organizationId'>): Release =>
      acquire([
        ['opened', limits.opened],
        [`opened organization ${organizationId}`, limits.openedPerOrganization],
      ]),
  }
}
