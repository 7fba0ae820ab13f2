import type { Session } from '../domain/session.ts'
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
  const listAges = async (atSeconds: number): Promise<readonly (number | null)[]> =>
    (await store.screeningLists.list()).map(({ confirmedAtSeconds }) =>
      confirmedAtSeconds === null ? null : Math.max(0, atSeconds - confirmedAtSeconds),
    )

  return {
    factsOf: async (session, atSeconds) =>
      sessionFactsOf({ ...(await known(session)), listAges: await listAges(atSeconds), atSeconds }),

    decidedByPeople: async (organizationId, time) => {
      const decided: DecidedSession[] = []
      // The lists' age at that time isn't stored.
      const ages = await listAges(time.untilSeconds)
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
