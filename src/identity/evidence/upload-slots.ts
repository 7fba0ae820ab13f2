// Limits concurrent uploads, both while they arrive and while they are opened. Arriving uploads always leave slots for
// other organizations and addresses. Openings take turns by organization and, within an organization, by address.
import { createCountedSlots } from '../../lib/counted-slots.ts'
import { createFairSlots, type FairSlots } from '../../lib/fair-slots.ts'
import type { EvidenceSession } from '../evidence-types.ts'
import { EvidenceBusyError } from './errors.ts'

export interface UploadLimits {
  /** Each upload takes up to DOCUMENT_BYTES_MAX of memory until it is stored or rejected. */
  readonly arriving: number
  readonly arrivingPerOrganization: number
  readonly arrivingPerAddress: number
  readonly arrivingPerSession: number
  readonly opened: number
  readonly openedPerOrganization: number
}

export const UPLOAD_LIMITS: UploadLimits = {
  arriving: 64,
  arrivingPerOrganization: 16,
  arrivingPerAddress: 8,
  arrivingPerSession: 2,
  opened: 16,
  openedPerOrganization: 4,
}

/** Share of the free slots that one organization can take, leaving slots for a third organization. */
const ORGANIZATION_PART = 1 / 3
/** Share of its organization's slots that one address can take. */
const ADDRESS_PART = 1 / 2

type Release = () => void

export const createUploadSlots = (limits: UploadLimits = UPLOAD_LIMITS) => {
  const arrivals = createCountedSlots()
  const byOrganization = createFairSlots(limits.opened, Number.POSITIVE_INFINITY)
  const openings = new Map<string, { count: number; readonly byAddress: FairSlots }>()

  const acquireTurn = async (turns: FairSlots, owner: string): Promise<Release> => {
    const release = await turns.acquire(owner)
    if (release === null) throw new EvidenceBusyError()
    return release
  }

  return {
    /** Call before the body is read. @param address empty if unknown @throws EvidenceBusyError */
    acquireArrival: (
      { organizationId, id }: Pick<EvidenceSession, 'organizationId' | 'id'>,
      address: string,
    ): Release => {
      const { arriving, arrivingPerOrganization, arrivingPerAddress, arrivingPerSession } = limits
      const organization = `organization ${organizationId}`
      const free = arriving - arrivals.count('all')
      const ownFree = arrivingPerOrganization - arrivals.count(organization)
      const release = arrivals.acquire([
        { key: 'all', maximum: arriving },
        { key: organization, maximum: Math.min(arrivingPerOrganization, Math.ceil(free * ORGANIZATION_PART)) },
        { key: `${organization} address ${address}`, maximum: Math.ceil(ownFree * ADDRESS_PART) },
        { key: `address ${address}`, maximum: arrivingPerAddress },
        { key: `session ${id}`, maximum: arrivingPerSession },
      ])
      if (release === null) throw new EvidenceBusyError()
      return release
    },

    acquireOpening: async (
      { organizationId }: Pick<EvidenceSession, 'organizationId'>,
      address: string,
    ): Promise<Release> => {
      const opening = openings.get(organizationId) ?? {
        count: 0,
        byAddress: createFairSlots(limits.openedPerOrganization, Number.POSITIVE_INFINITY),
      }
      openings.set(organizationId, opening)
      opening.count += 1
      const releaseOwn = await acquireTurn(opening.byAddress, address)
      const release = await acquireTurn(byOrganization, organizationId)
      return () => {
        release()
        releaseOwn()
        opening.count -= 1
        if (opening.count === 0) openings.delete(organizationId)
      }
    },
  }
}
