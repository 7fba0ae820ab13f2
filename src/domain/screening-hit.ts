// Hits: findings in lists or from screeners, for a person to clear or confirm.

/** Prefix of checks of names, and the name of a check that failed permanently. */
export const NAME_CHECKS = 'lists'
export const NAME_CHECK = 'lists.names'
/** Prefix of checks of wallets, before a dot. Policies read them as one check. */
export const WALLET_CHECKS = 'wallets'

/** Includes a permanently failed check, which has the name of the part. */
export const outcomesOfPart = (
  checks: readonly { readonly name: string; readonly outcome: string }[],
  part: typeof NAME_CHECKS | typeof WALLET_CHECKS,
): readonly string[] =>
  checks.flatMap(({ name, outcome }) => (name === part || name.startsWith(`${part}.`) ? [outcome] : []))

export const isCheckMade = (outcome: string): boolean => outcome !== 'not-done' && outcome !== 'unreadable'

/** Returns whether a name or wallet could not be compared with the lists and screeners in use. */
export const isUncompared = (checks: Parameters<typeof outcomesOfPart>[0]): boolean =>
  ([NAME_CHECKS, WALLET_CHECKS] as const).some((part) =>
    outcomesOfPart(checks, part).some((outcome) => !isCheckMade(outcome)),
  )

export const HIT_STATES = ['open', 'cleared', 'confirmed'] as const
export type HitState = (typeof HIT_STATES)[number]

export interface Hit {
  readonly list: string
  /** Id of the entry in the list; for a wallet, its address. */
  readonly entry: string
  /** List version at the time; empty for a screener. */
  readonly versionId: string
  readonly name: string
  /** `person`, `business`, `owner 1` or `wallet`. */
  readonly subject: string
  readonly score: number
  readonly why: readonly { readonly part: string; readonly points: number; readonly detail: string }[]
}

interface ListedHit extends Hit {
  /** Changes when the list is enabled again, which ends a clearance; null if unknown or for a screener. */
  readonly listing?: string | null
}

export interface FoundHit extends ListedHit {
  /** Compared data: submitted text and content of the entry. Only a keyed hash is stored. */
  readonly compared: string
  /** Submitted part of `compared`. Only a keyed hash is stored. */
  readonly comparedSubject: string
}

export interface BoundHit extends ListedHit {
  /** Keyed hash of `compared`. A decision about the hit is valid only for this comparison. */
  readonly basis: string
  /** Keyed hash of `comparedSubject`. */
  readonly subjectBasis: string
}

/** Effect of a new hit on a completed session. */
export const HIT_ACTIONS = ['review', 'retry', 'revoke'] as const
export type HitAction = (typeof HIT_ACTIONS)[number]

/** Null fields mean the service's default. */
export interface ScreeningSettings {
  readonly threshold: number | null
  readonly onNewHit: HitAction
  readonly addressLists: readonly string[] | null
  readonly screeners: readonly string[] | null
  /** Score at which a wallet is a hit even without a flag. */
  readonly screenerScore: number | null
  /** Whether screeners check again after a list changes. */
  readonly screenersAgain: boolean
}

export interface ScreeningSettingsOfAll {
  of(organizationId: string): ScreeningSettings
  /** Key that changes with any setting. */
  readonly key: string
}

/** A name in a session that is similar to a listed name, at any score. */
export interface NearName extends Pick<Hit, 'list' | 'entry' | 'name' | 'subject' | 'score'> {
  readonly sessionId: string
  /** Whether the name is a hit at any threshold. */
  readonly isSame: boolean
}

export interface NearNames {
  readonly sessions: number
  /** Sessions that could not be read and were not compared. */
  readonly unread: number
  /** False if only the newest sessions were compared. */
  readonly exact: boolean
  readonly near: readonly NearName[]
}

/** Default threshold; docs/screening.md describes the found and missed names. */
export const DEFAULT_THRESHOLD = 75
/** Minimum threshold: below this, nearly every name is similar to a listed name. */
export const THRESHOLD_MIN = 60
export const THRESHOLD_MAX = 100

/** Thresholds for which a trial counts hits. */
export const TRIAL_THRESHOLDS = [70, 75, 80, 85, 90, 95, 100] as const
