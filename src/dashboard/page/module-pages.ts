// The pages of modules, and their parts of other pages. A module declares them in pages/pages.ts; src/module-pages.ts is
// the list. Nothing of a module that does not run is shown, loaded or requested.
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

export interface SettingsCardProps {
  readonly mayChange: boolean
}

export interface ReviewSectionProps {
  readonly session: SessionDetail
  /** Called when a hit is cleared or confirmed. */
  readonly onDecided: () => void
  /** Called with the number of open hits. */
  readonly onOpenHits: (count: number) => void
}

export interface CheckDescription {
  readonly label: string
  /** Meaning of the outcome. */
  readonly text: string
}

export interface ReviewParts {
  /** Above the checks of the session. */
  readonly Section?: ComponentType<ReviewSectionProps>
  /** Null for checks of other modules. */
  readonly describeCheck?: (check: SessionCheck) => CheckDescription | null
  /** Below the checks of the session. */
  readonly Comparison?: ComponentType<{ readonly session: SessionDetail; readonly checks: readonly SessionCheck[] }>
}

export interface QueueParts {
  /** Above the queue. */
  readonly Notice?: ComponentType
  /** The name is a parameter of the page's address, which `queryOf` passes on. */
  readonly filters?: readonly { readonly name: string; readonly label: string; readonly choices: SelectChoices }[]
  readonly columns?: Columns<Session>
}

/** The parts of a policy that decides sessions. */
export interface SessionPolicyParts {
  /** The step that follows once a revision is live. */
  readonly NextStep: ComponentType<{ readonly policyId: string }>
  readonly Trial: ComponentType<{ readonly revisions: readonly Revision[]; readonly draft: Draft }>
  readonly ShadowResults: ComponentType<{ readonly policy: Policy }>
}

/** The tabs of a policy in which it is tried. */
export interface PolicyLabParts {
  readonly Trial: ComponentType<PolicyPartProps & { readonly draft: Draft; readonly checked: CheckedPolicy | null }>
  readonly Shadow: ComponentType<
    PolicyPartProps & { readonly onChanged: () => void; readonly ofSessions: SessionPolicyParts | null }
  >
  readonly Replay: ComponentType<PolicyPartProps & { readonly draft: Draft }>
  /** Runs a revision in shadow; null ends the shadow. */
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

/** Parts of core pages, in one file of the bundle per module. */
export interface ModuleParts {
  readonly settings?: ComponentType<SettingsCardProps>
  readonly review?: ReviewParts
  readonly queue?: QueueParts
  readonly sessionPolicy?: SessionPolicyParts
  /** A card of the page of the decision log. */
  readonly decisionLog?: ComponentType
  /** Below a decision's place in the log. */
  readonly decision?: ComponentType<{ readonly uuid: string }>
  readonly policyLab?: PolicyLabParts
  /** Of a webhook endpoint for decisions. */
  readonly deciderAction?: (endpoint: WebhookEndpoint, params: { readonly organization: string }) => Action
}

export interface ModulePages {
  /** Name of the module. */
  readonly module: string
  readonly pages?: readonly PageEntry[]
  /** Entry of the command palette that leads to the module's card of the settings. */
  readonly setting?: readonly [label: string, card: string]
  /** Items of the overview. */
  readonly attention?: (overview: Overview, context: AttentionContext) => readonly Attention[]
  readonly load?: () => Promise<ModuleParts>
}

/** The parts for one place of the running modules, in the order of src/module-pages.ts. */
export const useModuleParts = <Place extends keyof ModuleParts>(
  place: Place,
): Query<readonly NonNullable<ModuleParts[Place]>[]> => {
  const { modules } = useSession()
  return useQuery<readonly NonNullable<ModuleParts[Place]>[]>(async () => {
    const loaded = await Promise.all(modules.map(({ load }) => load?.()))
    return loaded.flatMap((parts) => parts?.[place] ?? [])
  }, [place, modules.map(({ module }) => module)])
}

/** The pages of the modules that run: the document names the modules that are left out. */
export const runningPages = (all: readonly ModulePages[]): readonly ModulePages[] => {
  const names = document.querySelector<HTMLMetaElement>('meta[name="without"]')?.content.split(' ') ?? []
  return all.filter(({ module }) => !names.includes(module))
}
