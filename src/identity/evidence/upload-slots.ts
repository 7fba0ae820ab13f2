// Limits the uploads at once: those that arrive, whose bytes their senders may withhold, and those that are opened. One
// session, address or organization can't take what the others need.
import { createCountedSlots, type SlotLimit } from '../../lib/counted-slots.ts'
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
  const slots = createCountedSlots()

  const acquire = (wanted: readonly SlotLimit[]): Release => {
    const release = slots.acquire(wanted)
    if (release === null) throw new EvidenceBusyError()
    return release
  }

  return {
    /** For an upload, before its body is read. @param address empty if unknown @throws EvidenceBusyError */
    acquireArrival: (
      { organizationId, id }: Pick<EvidenceSession, 'organizationId' | 'id'>,
      address: string,
    ): Release =>
      acquire([
        { key: 'arriving', maximum: limits.arriving },
        { key: `arriving organization ${organizationId}`, maximum: limits.arrivingPerOrganization },
        { key: `arriving address ${address}`, maximum: limits.arrivingPerAddress },
        { key: `arriving session ${id}`, maximum: limits.arrivingPerSession },
      ]),
    /** For an upload whose body has arrived. @throws EvidenceBusyError */
    acquireOpening: ({ organizationId }: Pick<EvidenceSession, 'organizationId'>): Release =>
      acquire([
        { key: 'opened', maximum: limits.opened },
        { key: `opened organization ${organizationId}`, maximum: limits.openedPerOrganization },
      ]),
  }
}
