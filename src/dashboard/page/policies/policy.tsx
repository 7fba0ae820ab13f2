import { call } from '../api/client.ts'
import type { Approval, Policy, Revision } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { type PolicyLabParts, type SessionPolicyParts, useModuleParts } from '../module-pages.ts'
import type { PageProps } from '../pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { type Action, menuItems, useActions } from '../ui/actions.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Badge, Loading, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Tabs, useTab } from '../ui/tabs.tsx'
import { say } from '../ui/toast.tsx'
import { makeLive } from './make-live.tsx'
import { NextStep } from './next-step.tsx'
import { PolicyEditor } from './policy-editor.tsx'
import { Revisions } from './revisions.tsx'
import { isGood, useCheck } from './use-check.ts'
import { useDraft } from './use-draft.ts'
import { type PolicyData, revisionName, usePolicy } from './use-policy.ts'

const TABS = [
  { id: 'document', label: 'Document' },
  { id: 'trial', label: 'Try it' },
  { id: 'revisions', label: 'Revisions' },
  { id: 'shadow', label: 'Shadow' },
  { id: 'replay', label: 'Replay' },
]
/** Tabs if the trial module isn't running, or for session policies, their module. */
const UNTRIED_TABS = TABS.filter(({ id }) => id === 'document' || id === 'revisions')

const StateBadges = ({ policy, revisions }: { readonly policy: Policy; readonly revisions: readonly Revision[] }) => (
  <>
    {policy.decides === 'sessions' && <Badge tone="info">Decides sessions</Badge>}{' '}
    {policy.active_revision_id === null ? (
      <Badge tone="warn">Not live</Badge>
    ) : (
      <Badge tone="good">Live: {revisionName(revisions, policy.active_revision_id)}</Badge>
    )}{' '}
    {policy.shadow_revision_id !== null && (
      <Badge tone="info">Shadow: {revisionName(revisions, policy.shadow_revision_id)}</Badge>
    )}
  </>
)

/** Returns the requested revision, such as `Revision 2`; null for other requests. */
const askedRevision = (changes: Approval['changes']): string | null => {
  const number = /^revision ([0-9]+)$/.exec(changes.find(({ what }) => what === 'decides')?.after ?? '')?.[1]
  return number === undefined ? null : `Revision ${number}`
}

const Waiting = ({ data }: { readonly data: PolicyData }) => {
  const { path } = useWorkplace()
  return (
    <>
      {data.waiting.map(({ id, changes }) => (
        <Notice
          key={id}
          tone="info"
          title={`${askedRevision(changes) ?? 'A change'} is awaiting approval`}
          actions={
            <ButtonLink small href={path('/approvals')}>
              {'View approvals'}
            </ButtonLink>
          }
        >
          <p>It becomes live when someone other than its author approves it.</p>
        </Notice>
      ))}
    </>
  )
}

export const PolicyPage = ({ params: { policy: id = '' } }: PageProps) => {
  const { path } = useWorkplace()
  const data = usePolicy(id)
  const { policy, revisions } = data
  const crumbs = [{ label: 'Policies', href: path('/policies') }]
  const parts = useModuleParts('sessionPolicy')
  const labs = useModuleParts('policyLab')
  if (policy.value === null || revisions.items === null || parts.value === null || labs.value === null) {
    const error = policy.error ?? revisions.error ?? parts.error ?? labs.error
    return (
      <Page title="Policy" crumbs={crumbs}>
        {error === null ? <Loading /> : <Problem error={error} retry={data.reload} />}
      </Page>
    )
  }
  const [ofSessions = null] = parts.value
  const [lab = null] = labs.value
  return (
    <Workbench
      key={id}
      policy={policy.value}
      revisions={revisions.items}
      data={data}
      crumbs={crumbs}
      ofSessions={policy.value.decides === 'sessions' ? ofSessions : null}
      lab={policy.value.decides === 'requests' || ofSessions !== null ? lab : null}
    />
  )
}

interface WorkbenchProps {
  readonly policy: Policy
  readonly revisions: readonly Revision[]
  readonly data: PolicyData
  readonly crumbs: readonly { readonly label: string; readonly href: string }[]
  readonly ofSessions: SessionPolicyParts | null
  readonly lab: PolicyLabParts | null
}

const Workbench = ({ policy, revisions, data, crumbs, ofSessions, lab }: WorkbenchProps) => {
  const { params, may } = useWorkplace()
  const mayChange = may('organization-admin')
  const tabs = lab === null ? UNTRIED_TABS : TABS
  const [tab, setTab] = useTab(tabs)
  const { start, dialog } = useActions(data.reload)
  const newest = revisions[0]
  const draft = useDraft(policy.id, newest?.id ?? null)
  const check = useCheck(draft.text)
  const path = { ...params, policy: policy.id }

  const save = useAction(async () => {
    const revision = await call('POST /organizations/{organization}/policies/{policy}/revisions', {
      params: path,
      body: { source: draft.text },
    })
    draft.saved(revision)
    say(`Saved as revision ${revision.number}`)
    data.reload()
  })
  const runInShadow = (parts: PolicyLabParts, revision: Revision): Action => ({
    label: 'Run in shadow mode',
    icon: 'screen',
    run: async () => {
      await parts.setShadow(policy, revision.id, params)
      setTab('shadow')
    },
    done: `Revision ${revision.number} runs in shadow mode`,
  })
  const maySave = mayChange && draft.changed && isGood(check)
  const saveNow = (): void => {
    if (maySave) save.run()
  }
  useShortcut('e', 'Edit the document', () => setTab('document'))
  useShortcut(
    't',
    `Try it on a ${ofSessions === null ? 'request' : 'session'}`,
    lab === null ? null : () => setTab('trial'),
  )

  const active = revisions.find(({ id }) => id === policy.active_revision_id) ?? null
  const goLive = (revision: Revision): Action => makeLive(params, { policy, revision, active, isTriable: lab !== null })
  const isAhead =
    newest !== undefined && newest.id !== policy.active_revision_id && (active?.number ?? 0) < newest.number
  const isAsked = data.waiting.some(({ changes }) => askedRevision(changes) === `Revision ${newest?.number}`)
  return (
    <Page
      title={policy.name}
      crumbs={crumbs}
      badge={<StateBadges policy={policy} revisions={revisions} />}
      actions={
        mayChange && (
          <>
            {tab === 'document' && (
              <Button
                kind={draft.changed ? 'primary' : 'secondary'}
                busy={save.busy}
                disabled={!maySave}
                onClick={saveNow}
              >
                Save as revision {policy.revisions + 1}
              </Button>
            )}
            {newest !== undefined && isAhead && !isAsked && (
              <Button kind={draft.changed ? 'secondary' : 'primary'} icon="check" onClick={() => start(goLive(newest))}>
                Make revision {newest.number} live
              </Button>
            )}
          </>
        )
      }
    >
      <Problem error={save.failure ?? draft.error} />
      <Waiting data={data} />
      {active !== null && policy.decides === 'requests' && <NextStep policyId={policy.id} />}
      {active !== null && ofSessions !== null && <ofSessions.NextStep policyId={policy.id} />}
      <Tabs label="Policy sections" tabs={tabs} current={tab} />
      {tab === 'document' && (
        <>
          <p class="editor-state" role="status">
            {draft.base === null
              ? 'Loading the document'
              : `${draft.changed ? 'Changed since' : 'Same as'} revision ${draft.base.number}`}
            {draft.base !== null && draft.changed && (
              <Button kind="quiet" small onClick={draft.undo}>
                Discard changes
              </Button>
            )}
          </p>
          {draft.base !== null && (
            <PolicyEditor
              value={draft.text}
              generation={draft.generation}
              onValue={draft.write}
              check={check}
              readOnly={!mayChange}
              onSave={saveNow}
            />
          )}
        </>
      )}
      {tab === 'trial' &&
        lab !== null &&
        (ofSessions === null ? (
          <lab.Trial policy={policy} revisions={revisions} draft={draft} checked={check.policy} />
        ) : (
          <ofSessions.Trial revisions={revisions} draft={draft} />
        ))}
      {tab === 'revisions' && (
        <Revisions
          policy={policy}
          data={data}
          itemsOf={(revision) =>
            mayChange && !revision.active
              ? menuItems([goLive(revision), lab !== null && !revision.shadow && runInShadow(lab, revision)], start)
              : []
          }
          onEdit={(revision) => {
            draft.open(revision.id)
            setTab('document')
          }}
        />
      )}
      {tab === 'shadow' && lab !== null && (
        <lab.Shadow policy={policy} revisions={revisions} onChanged={data.reload} ofSessions={ofSessions} />
      )}
      {tab === 'replay' && lab !== null && <lab.Replay policy={policy} revisions={revisions} draft={draft} />}
      {dialog}
    </Page>
  )
}
