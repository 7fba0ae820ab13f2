// Limits the uploads at once: those that arrive, whose bytes their senders may withhold, and those that are opened. One
// session, address or organization can't take what the others need: arrivals leave places for newcomers, and opening goes by
// turns of organizations and, within each, of addresses.
import { createCountedSlots } from '../../lib/counted-slots.ts'
import { createFairSlots, type FairSlots } from '../../lib/fair-slots.ts'
import type { EvidenceSession } from '../evidence-types.ts'
import { EvidenceBusyError } from './errors.ts'

export interface UploadLimits {
  /** Each upload holds up to DOCUMENT_BYTES_MAX from its first byte until it is stored or refused. */
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
  openedPerOrganization: 4,
}

/** Of the free places, the part that one organization may hold: newcomers find a place although two take all they may. */
const ORGANIZATION_PART = 1 / 3
/** The same for an address, of the places of its organization. */
const ADDRESS_PART = 1 / 2

/** Ends what was acquired. */
type Release = () => void

/** The uploads of one organization that are being opened or wait for it. */
interface Opening {
  count: number
  readonly byAddress: FairSlots
}

export const createUploadSlots = (limits: UploadLimits = UPLOAD_LIMITS) => {
  const arrivals = createCountedSlots()
  const byOrganization = createFairSlots(limits.opened, Number.POSITIVE_INFINITY)
  const openings = new Map<string, Opening>()

  /** @throws EvidenceBusyError if too many wait */
  const acquireTurn = async (turns: FairSlots, owner: string): Promise<Release> => {
    const release = await turns.acquire(owner)
    if (release === null) throw new EvidenceBusyError()
    return release
  }

  return {
    /** For an upload, before its body is read. @param address empty if unknown @throws EvidenceBusyError */
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

    /** For an upload whose body has arrived: waits for its turn. As many wait as arrivals are admitted. */
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
