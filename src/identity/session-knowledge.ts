import type { Session } from '../domain/session.ts'
import { secondsSince } from '../lib/time.ts'
import type { DecidedSession, SessionKnowledge } from '../policy/types/session-facts.ts'
import type { EvidenceService } from './evidence-types.ts'
import { type KnownOfSession, sessionFactsOf } from './session-facts.ts'

type DatedHit = KnownOfSession['hits'][number] & { readonly foundAtSeconds: number }

interface KnowledgeStore {
  readonly sessions: {
    findDecidedByPeople(
      organizationId: string,
      time: { readonly sinceSeconds: number; readonly untilSeconds: number },
      limit: number,
    ): Promise<readonly { readonly session: Session; readonly decidedAtSeconds: number }[]>
  }
  readonly sessionChecks: { list(organizationId: string, sessionId: string): Promise<KnownOfSession['checks']> }
  readonly screeningChecks: {
    hits(organizationId: string, sessionId: string): Promise<readonly DatedHit[]>
    endedHits(
      organizationId: string,
      sessionId: string,
    ): Promise<readonly (DatedHit & { readonly endedAtSeconds: number })[]>
  }
  readonly screeningLists: { list(): Promise<readonly { readonly confirmedAtSeconds: number | null }[]> }
}

const SESSIONS_MAX = 1_000

export const createSessionKnowledge = ({
  store,
  evidence,
}: {
  readonly store: KnowledgeStore
  readonly evidence: Pick<EvidenceService, 'screenedFields'>
}): SessionKnowledge => {
  const known = async (session: Session) => ({
    session,
    fields: await evidence.screenedFields(session),
    checks: await store.sessionChecks.list(session.organizationId, session.id),
    hits: await store.screeningChecks.hits(session.organizationId, session.id),
  })
  const listTimes = async (): Promise<readonly (number | null)[]> =>
    (await store.screeningLists.list()).map(({ confirmedAtSeconds }) => confirmedAtSeconds)

  return {
    factsOf: async (session, atSeconds) => {
      const listAges = (await listTimes()).map((confirmed) => secondsSince(confirmed, atSeconds))
      return sessionFactsOf({ ...(await known(session)), listAges, atSeconds })
    },

    decidedByPeople: async (organizationId, time) => {
      const decided: DecidedSession[] = []
      // The lists' age at that time isn't stored.
      const ages = (await listTimes()).map((confirmed) =>
        confirmed === null ? null : Math.max(0, time.untilSeconds - confirmed),
      )
      for (const { session, decidedAtSeconds: atSeconds } of await store.sessions.findDecidedByPeople(
        organizationId,
        time,
        SESSIONS_MAX,
      )) {
        const { hits, ...rest } = await known(session)
        const ended = await store.screeningChecks.endedHits(organizationId, session.id)
        const then = [...hits, ...ended.filter(({ endedAtSeconds }) => endedAtSeconds > atSeconds)].flatMap((hit) =>
          hit.foundAtSeconds > atSeconds ? [] : [{ ...hit, state: 'open' as const }],
        )
        decided.push({
          sessionId: session.id,
          decided: session.status === 'completed' ? 'completed' : 'rejected',
          facts: sessionFactsOf({ ...rest, hits: then, listAges: ages, atSeconds }),
        })
      }
      return decided
    },
  }
}
