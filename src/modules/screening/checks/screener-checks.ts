// Queries external screeners about a session's wallets. After a timeout, the outcome is `not-done` and the query is
// repeated.
import { type FoundHit, WALLET_CHECKS } from '../../../domain/screening-hit.ts'
import type { SessionWalletOverTime } from '../../../domain/wallet.ts'
import { comparisonKey, type NewSessionCheck, NOTHING, type RepeatedPart } from '../../../identity/checks/checks.ts'
import { createFairSlots } from '../../../lib/fair-slots.ts'
import { reasonsOf, type WalletScreeningDependencies, walletsOfEach } from './wallet-checks.ts'

interface ScreenerAnswer {
  readonly flagged: boolean | null
  readonly score: number | null
  readonly categories: readonly string[] | null
}

interface ScreenerCheckDependencies extends WalletScreeningDependencies {
  readonly screeners: readonly string[]
  /** Returns null if there is no answer; never rejects. */
  readonly ask: (screener: string, wallet: SessionWalletOverTime) => Promise<ScreenerAnswer | null>
  /** Changes when the sanctions lists change. */
  readonly listsKey: () => Promise<string>
  readonly wait?: (milliseconds: number) => Promise<void>
}

const PART = `${WALLET_CHECKS}.screeners`
/**
 * Time limit for all wallets of a session, because other sessions wait. The next attempt uses answers that arrive
 * later.
 */
const TIME_LIMIT_MS = 3_000
/** Maximum concurrent queries; organizations take turns. Attestation requests query the same screeners. */
const QUESTIONS_MAX = 8
const SURE = 100
const SILENT = 'the screener did not respond, or returned neither a flag nor a valid score'
const NOT_CONFIGURED = 'the screener is not configured'

const isHit = ({ flagged, score }: ScreenerAnswer, fromScore: number | null): boolean | null => {
  if (flagged === true) return true
  if (score !== null && fromScore !== null) return score >= fromScore
  return flagged
}

const describe = ({ flagged, score, categories }: ScreenerAnswer): string =>
  [...(flagged === true ? ['flagged'] : []), ...(score === null ? [] : [`score ${score}`]), ...(categories ?? [])].join(
    ', ',
  )

/** Includes the chain, because an answer for one chain doesn't withdraw a flag on another. */
const subjectOf = ({ addressText, chain }: SessionWalletOverTime): string => JSON.stringify([addressText, chain])

export const createScreenerChecks = (dependencies: ScreenerCheckDependencies): RepeatedPart => {
  const { screeners, ask, settings, walletsOf, listsKey, wait = Bun.sleep } = dependencies
  const slots = createFairSlots(QUESTIONS_MAX, Number.POSITIVE_INFINITY)

  const hitOf = (screener: string, wallet: SessionWalletOverTime, answer: ScreenerAnswer): FoundHit => ({
    list: screener,
    entry: wallet.addressText,
    versionId: '',
    name: wallet.addressText,
    subject: 'wallet',
    score: SURE,
    why: [{ part: 'screener', points: SURE, detail: describe(answer) }, ...reasonsOf(wallet, ` on ${wallet.chain}`)],
    // Excludes the chain: the same answer for this address on another chain is the same hit.
    compared: JSON.stringify([wallet.addressText, answer.flagged, answer.score, answer.categories]),
    comparedSubject: subjectOf(wallet),
  })

  const check = async (
    organizationId: string,
    screener: string,
    wallets: readonly SessionWalletOverTime[],
    fromScore: number | null,
    version: string,
  ): Promise<NewSessionCheck> => {
    const name = `${PART}.${screener}`
    const detail = { wallets: wallets.length }
    if (!screeners.includes(screener)) {
      return { name, version, outcome: 'not-done', hits: [], detail: { ...detail, problem: NOT_CONFIGURED } }
    }
    const hits: FoundHit[] = []
    let answered = 0
    const ended = new AbortController()
    const askOne = async (wallet: SessionWalletOverTime): Promise<void> => {
      const slot = slots.acquire(organizationId, ended.signal)
      const release = await slot?.catch(() => null)
      if (!release) return
      const answer = await ask(screener, wallet).finally(release)
      const hit = answer === null ? null : isHit(answer, fromScore)
      if (hit !== null) answered += 1
      if (answer !== null && hit === true) hits.push(hitOf(screener, wallet, answer))
    }
    await Promise.race([Promise.all(wallets.map(askOne)), wait(TIME_LIMIT_MS)])
    ended.abort()
    const subjects = wallets.map(subjectOf)
    const found = { name, subjects, hits: [...hits], settings: comparisonKey([fromScore]), lowestScore: fromScore ?? 0 }
    if (answered === wallets.length) return { ...found, version, detail, outcome: 'passed' }
    // With an empty version, the next pass repeats the query.
    return { ...found, version: '', outcome: 'not-done', detail: { ...detail, problem: SILENT }, isTriedAgain: true }
  }

  return {
    name: PART,
    begin: async (organization) => {
      const { of, key } = await settings(organization)
      const lists = await listsKey()
      const askedFor = (organizationId: string): readonly string[] => of(organizationId).screeners ?? screeners
      const versionOf = (organizationId: string): string =>
        comparisonKey([
          askedFor(organizationId),
          of(organizationId).screenerScore,
          of(organizationId).screenersAgain ? lists : '',
        ])
      return {
        key: comparisonKey([screeners, key, lists]),
        keyOf: (organizationId) => {
          if (askedFor(organizationId).length === 0) return NOTHING
          return of(organizationId).screenersAgain ? versionOf(organizationId) : null
        },
        compare: async (sessions) => {
          const [first] = sessions
          if (first === undefined) return []
          const { organizationId } = first
          const asked = askedFor(organizationId)
          if (asked.length === 0) return sessions.map(() => [])
          const { screenerScore } = of(organizationId)
          const version = versionOf(organizationId)
          return Promise.all(
            (await walletsOfEach(walletsOf, organizationId, sessions)).map((wallets) =>
              Promise.all(asked.map((screener) => check(organizationId, screener, wallets, screenerScore, version))),
            ),
          )
        },
      }
    },
  }
}
