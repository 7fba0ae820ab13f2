// Pages of modules and their parts in other pages, declared in pages/pages.ts of each module and listed in
// src/module-pages.ts. Nothing from a disabled module is shown or requested.
import type { ComponentType } from 'preact'
import type {
  CheckedPolicy,
  Overview,
  Policy,
  Revision,
  Session,
  SessionCheck,
  SessionDetail,
  WebhookEndpoint,
} from './api/types.ts'
import { type Query, useQuery } from './data/use-query.ts'
import type { Attention, AttentionContext } from './overview/attention.ts'
import type { PageEntry } from './pages.ts'
import type { Draft } from './policies/use-draft.ts'
import { useSession } from './shell/session.ts'
import type { Action } from './ui/actions.tsx'
import type { SelectChoices } from './ui/field.tsx'
import type { Columns } from './ui/table.tsx'

export const SETTINGS_TABS = {
  organization: 'Organization',
  page: 'Verification page',
  checks: 'Checks',
  automation: 'Automation',
  retention: 'Retention',
  security: 'Security',
}
type SettingsTab = keyof typeof SETTINGS_TABS

export interface SettingsCardProps {
  readonly mayChange: boolean
}

export interface ReviewSectionProps {
  readonly session: SessionDetail
  /** Called when a hit is cleared or confirmed. */
  readonly onDecided: () => void
  readonly onOpenHits: (count: number) => void
}

export interface CheckDescription {
  readonly label: string
  readonly text: string
}

export interface ReviewParts {
  /** Shown above the evidence if the session has an open hit, otherwise below it. */
  readonly Section?: ComponentType<ReviewSectionProps>
  /** Returns null for checks of other modules. */
  readonly describeCheck?: (check: SessionCheck) => CheckDescription | null
  /** Comparison below the evidence. */
  readonly Comparison?: ComponentType<{ readonly session: SessionDetail; readonly checks: readonly SessionCheck[] }>
}

export interface QueueParts {
  /** Notice above the queue. */
  readonly Notice?: ComponentType
  /** `name` is a query parameter of the URL, which `queryOf` forwards. */
  readonly filters?: readonly { readonly name: string; readonly label: string; readonly choices: SelectChoices }[]
  readonly orders?: Readonly<Record<string, string>>
  readonly columns?: Columns<Session>
}

export interface SessionPolicyParts {
  /** Next step once a revision is active. */
  readonly NextStep: ComponentType<{ readonly policyId: string }>
  readonly Trial: ComponentType<{ readonly revisions: readonly Revision[]; readonly draft: Draft }>
  readonly ShadowResults: ComponentType<{ readonly policy: Policy }>
}

export interface PolicyLabParts {
  readonly Trial: ComponentType<PolicyPartProps & { readonly draft: Draft; readonly checked: CheckedPolicy | null }>
  readonly Shadow: ComponentType<
    PolicyPartProps & { readonly onChanged: () => void; readonly ofSessions: SessionPolicyParts | null }
  >
  readonly Replay: ComponentType<PolicyPartProps & { readonly draft: Draft }>
  /** Runs a revision in shadow mode; null stops it. */
  readonly setShadow: (
    policy: Policy,
    revisionId: string | null,
    params: { readonly organization: string },
  ) => Promise<void>
}

interface PolicyPartProps {
  readonly policy: Policy
  readonly revisions: readonly Revision[]
}

export interface SettingsPart {
  readonly tab: SettingsTab
  readonly Card: ComponentType<SettingsCardProps>
}

export interface ModuleParts {
  readonly settings?: SettingsPart
  readonly review?: ReviewParts
  readonly queue?: QueueParts
  readonly sessionPolicy?: SessionPolicyParts
  /** Card on the decision log page. */
  readonly decisionLog?: ComponentType
  /** Shown below a decision's position in the log. */
  readonly decision?: ComponentType<{ readonly uuid: string }>
  readonly policyLab?: PolicyLabParts
  /** Action for an endpoint that decides sessions. */
  readonly deciderAction?: (endpoint: WebhookEndpoint, params: { readonly organization: string }) => Action
}

export interface ModulePages {
  readonly module: string
  readonly pages?: readonly PageEntry[]
  /** Entry of the command palette that leads to the module's settings card. */
  readonly setting?: readonly [label: string, tab: SettingsTab, card: string]
  /** Returns items for the overview. */
  readonly attention?: (overview: Overview, context: AttentionContext) => readonly Attention[]
  readonly load?: () => Promise<ModuleParts>
}

/** Returns one kind of part of all running modules, in the order of src/module-pages.ts. */
export const useModuleParts = <Place extends keyof ModuleParts>(
  place: Place,
): Query<readonly NonNullable<ModuleParts[Place]>[]> => {
  const { modules } = useSession()
  return useQuery<readonly NonNullable<ModuleParts[Place]>[]>(async () => {
    const loaded = await Promise.all(modules.map(({ load }) => load?.()))
    return loaded.flatMap((parts) => parts?.[place] ?? [])
  }, [place, modules.map(({ module }) => module)])
}

/** Returns the pages of the running modules. The service lists the disabled modules in the document. */
export const runningPages = (all: readonly ModulePages[]): readonly ModulePages[] => {
  const names = document.querySelector<HTMLMetaElement>('meta[name="without"]')?.content.split(' ') ?? []
  return all.filter(({ module }) => !names.includes(module))
}
