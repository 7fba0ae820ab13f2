// A hit: what a check found in a list or received from a screener, for a person to clear or confirm.

/** Prefix of the checks of names. A check that failed permanently has only this name. */
export const NAME_CHECKS = 'lists'
export const NAME_CHECK = 'lists.names'
/** Prefix of the checks of wallets, before a full stop. A policy reads them as one check. */
export const WALLET_CHECKS = 'wallets'

/**
 * Returns outcomes of the checks of names or of wallets, including a permanently failed check with the name of the
 * part.
 */
export const outcomesOfPart = (
  checks: readonly { readonly name: string; readonly outcome: string }[],
  part: typeof NAME_CHECKS | typeof WALLET_CHECKS,
): readonly string[] =>
  checks.flatMap(({ name, outcome }) => (name === part || name.startsWith(`${part}.`) ? [outcome] : []))

/** Returns false for a check that failed. */
export const isCheckMade = (outcome: string): boolean => outcome !== 'not-done' && outcome !== 'unreadable'

/**
 * Returns whether a name or a wallet could not be compared with the lists and screeners in use. Checks that are not in
 * use do not count.
 */
export const isUncompared = (checks: Parameters<typeof outcomesOfPart>[0]): boolean =>
  ([NAME_CHECKS, WALLET_CHECKS] as const).some((part) =>
    outcomesOfPart(checks, part).some((outcome) => !isCheckMade(outcome)),
  )

export const HIT_STATES = ['open', 'cleared', 'confirmed'] as const
export type HitState = (typeof HIT_STATES)[number]

/** A hit as it is shown and stored. */
export interface Hit {
  readonly list: string
  /** The entry's id in the list; for a wallet, its address. */
  readonly entry: string
  /** Version of the list when the hit was found; empty for a screener. */
  readonly versionId: string
  readonly name: string
  /** Whose name is similar: `person`, `business` or `owner 1`; or `wallet`. */
  readonly subject: string
  readonly score: number
  readonly why: readonly { readonly part: string; readonly points: number; readonly detail: string }[]
}

interface ListedHit extends Hit {
  /** Changes when the list is created or enabled again, which ends a clearance. Null if unknown or for a screener. */
  readonly listing?: string | null
}

export interface FoundHit extends ListedHit {
  /**
   * The compared data: the text that the person submitted and the content of the entry. Only a keyed hash is stored.
   */
  readonly compared: string
  /** The part of `compared` that the person submitted. Only a keyed hash is stored. */
  readonly comparedSubject: string
}

/** A hit with hashes of the compared data. */
export interface BoundHit extends ListedHit {
  /** Keyed hash of `compared`. A decision about a hit is valid for this comparison only. */
  readonly basis: string
  /** Keyed hash of `comparedSubject`. */
  readonly subjectBasis: string
}

/** The effect of a new hit on a completed session: wait for a review, go back to its person, or end. */
export const HIT_ACTIONS = ['review', 'retry', 'revoke'] as const
export type HitAction = (typeof HIT_ACTIONS)[number]

/** The settings of an organization. Null for the service's default. */
export interface ScreeningSettings {
  readonly threshold: number | null
  readonly onNewHit: HitAction
  /** Names of the address lists in which wallets are looked up. */
  readonly addressLists: readonly string[] | null
  /** Names of the screeners for wallets. */
  readonly screeners: readonly string[] | null
  /** Minimum score of a screener at which an unflagged wallet is a hit. */
  readonly screenerScore: number | null
  /** True if screeners check again after a list changes. */
  readonly screenersAgain: boolean
}

export interface ScreeningSettingsOfAll {
  /** Returns an organization's settings. The defaults apply if it has set nothing. */
  of(organizationId: string): ScreeningSettings
  /** All settings as text, which changes if any of them does. */
  readonly key: string
}

/** A name in a session that is similar to a listed name, at any score. */
export interface NearName extends Pick<Hit, 'list' | 'entry' | 'name' | 'subject' | 'score'> {
  readonly sessionId: string
  /** True if it is a hit at any threshold. */
  readonly isSame: boolean
}

export interface NearNames {
  readonly sessions: number
  /** Number of these sessions that are unreadable: they were compared with nothing. */
  readonly unread: number
  /** False if the organization has more, and only the newest were compared. */
  readonly exact: boolean
  /** Highest score first. */
  readonly near: readonly NearName[]
}

/** The default of an organization. docs/screening.md describes what it finds and misses. */
export const DEFAULT_THRESHOLD = 75
/** Below this, nearly every name is similar to a listed name. */
export const THRESHOLD_MIN = 60
export const THRESHOLD_MAX = 100

/** The thresholds for which a trial counts hits: nobody uses one below the first. */
export const TRIAL_THRESHOLDS = [70, 75, 80, 85, 90, 95, 100] as const
