// A hit: what a check found on a list or was told by a screener, for a person to clear or confirm.

/** The checks of names; a check that failed for good has this name alone. */
export const NAME_CHECKS = 'lists'
export const NAME_CHECK = 'lists.names'
/** Checks of wallets begin with it and a point: a policy reads them as one. */
export const WALLET_CHECKS = 'wallets'

/** Outcomes of the checks of names or of wallets, including a check that failed for good and has the name of the part. */
export const outcomesOfPart = (
  checks: readonly { readonly name: string; readonly outcome: string }[],
  part: typeof NAME_CHECKS | typeof WALLET_CHECKS,
): readonly string[] =>
  checks.flatMap(({ name, outcome }) => (name === part || name.startsWith(`${part}.`) ? [outcome] : []))

/** False for a check that could not be made. */
export const isCheckMade = (outcome: string): boolean => outcome !== 'not-done' && outcome !== 'unreadable'

/** Whether a name or a wallet could not be compared with what is in use. Checks that are not in use don't count. */
export const isUncompared = (checks: Parameters<typeof outcomesOfPart>[0]): boolean =>
  ([NAME_CHECKS, WALLET_CHECKS] as const).some((part) =>
    outcomesOfPart(checks, part).some((outcome) => !isCheckMade(outcome)),
  )

export const HIT_STATES = ['open', 'cleared', 'confirmed'] as const
export type HitState = (typeof HIT_STATES)[number]

/** A hit as it is shown and stored. */
export interface Hit {
  /** Name of the list, or of the screener. */
  readonly list: string
  /** The entry's id in the list; of a wallet its address. */
  readonly entry: string
  /** Of the list when it was found; a screener has none. */
  readonly versionId: string
  readonly name: string
  /** Whose name it is like, `person`, `business` or `owner 1`; or `wallet`. */
  readonly subject: string
  readonly score: number
  readonly why: readonly { readonly part: string; readonly points: number; readonly detail: string }[]
}

export interface FoundHit extends Hit {
  /** What was compared: the text that the person submitted and the content of the entry. Only a keyed hash of it is stored. */
  readonly compared: string
  /** The part of `compared` that the person submitted. Only a keyed hash of it is stored. */
  readonly comparedSubject: string
}

/** A hit bound to what was compared. */
export interface BoundHit extends Hit {
  /** Keyed hash of `compared`. A decision about a hit holds for this comparison only. */
  readonly basis: string
  /** Keyed hash of `comparedSubject`. */
  readonly subjectBasis: string
}

/** What a new hit does to a session that is completed: wait for a look, go back to its person, or end. */
export const HIT_ACTIONS = ['review', 'retry', 'revoke'] as const
export type HitAction = (typeof HIT_ACTIONS)[number]

/** What an organization has set; null: the default of the service. */
export interface ScreeningSettings {
  /** Lowest score of a hit. */
  readonly threshold: number | null
  readonly onNewHit: HitAction
  /** Names of the address lists that wallets are looked up in. */
  readonly addressLists: readonly string[] | null
  /** Names of the screeners that are asked about wallets. */
  readonly screeners: readonly string[] | null
  /** From which score of a screener on a wallet is a hit that it does not flag. */
  readonly screenerScore: number | null
  /** They are asked again when a list changes. */
  readonly screenersAgain: boolean
}

export interface ScreeningSettingsOfAll {
  /** The defaults where an organization has set nothing. */
  of(organizationId: string): ScreeningSettings
  /** What all have set, as a text: it changes when any of it does. */
  readonly key: string
}

/** A name of a session that is like a listed one, hit or not. */
export interface NearName extends Pick<Hit, 'list' | 'entry' | 'name' | 'subject' | 'score'> {
  readonly sessionId: string
  /** A hit whatever the threshold is. */
  readonly isSame: boolean
}

export interface NearNames {
  /** How many were compared. */
  readonly sessions: number
  /** Of these, how many can't be read: they were compared with nothing. */
  readonly unread: number
  /** False: the organization has more, and only the newest were compared. */
  readonly exact: boolean
  /** The highest score first. */
  readonly near: readonly NearName[]
}

/** Where an organization has set none. docs/screening.md has what it finds and what it lets through. */
export const DEFAULT_THRESHOLD = 75
/** Below, nearly every name resembles one of a list. */
export const THRESHOLD_MIN = 60
export const THRESHOLD_MAX = 100

/** What a trial counts hits from: below the first nobody looks. */
export const TRIAL_THRESHOLDS = [70, 75, 80, 85, 90, 95, 100] as const
