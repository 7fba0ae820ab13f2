// The history of a policy: every document that was ever saved, which of them is live, and what changed from one to another.
import { useState } from 'preact/hooks'
import type { Policy, Revision } from '../api/types.ts'
import { useWorkplace } from '../shell/session.ts'
import { Copyable } from '../ui/copy.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Compare } from './compare.tsx'
import type { PolicyData } from './use-policy.ts'

interface RevisionsProps {
  readonly policy: Policy
  readonly data: PolicyData
  readonly onMakeLive: (revision: Revision) => void
  readonly onShadow: (revision: Revision) => void
  readonly onEdit: (revision: Revision) => void
}

export const Revisions = ({ policy, data, onMakeLive, onShadow, onEdit }: RevisionsProps) => {
  const { may } = useWorkplace()
  const mayChange = may('organization-admin')
  const items = data.revisions.items ?? []
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const newest = items[0]
  // The live one against the newest; where they are the same, the one before it.
  const fallback = items.find(({ id, active }) => active && id !== newest?.id) ?? items[1]
  const shownFrom = from === '' ? (fallback?.id ?? '') : from
  const shownTo = to === '' ? (newest?.id ?? '') : to
  const active = items.find((revision) => revision.active)
  return (
    <>
      <Card flush>
        <PagedTable<Revision>
          caption="Revisions, newest first"
          pages={data.revisions}
          rowKey={({ id }) => id}
          empty={null}
          columns={{
            Revision: ({ number, active: live, shadow }) => (
              <>
                <strong>Revision {number}</strong> {live && <Badge tone="good">Live</Badge>}{' '}
                {shadow && <Badge tone="info">Shadow</Badge>}
              </>
            ),
            Document: ({ content_hash: hash }) => <Copyable text={hash} label="SHA-256 of the document" short />,
            Saved: { narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
            '': (revision) => (
              <RowMenu
                label={`Actions for revision ${revision.number}`}
                items={[
                  ...(mayChange && !revision.active
                    ? [
                        {
                          label:
                            active !== undefined && active.number > revision.number
                              ? 'Go back to it…'
                              : 'Make it live…',
                          icon: 'check' as const,
                          onSelect: () => onMakeLive(revision),
                        },
                      ]
                    : []),
                  ...(mayChange && !revision.active && !revision.shadow
                    ? [
                        {
                          label: 'Run in shadow',
                          icon: 'screen' as const,
                          onSelect: () => onShadow(revision),
                        },
                      ]
                    : []),
                  { label: 'Open in the editor', icon: 'code', onSelect: () => onEdit(revision) },
                  {
                    label: 'Compare with the newest',
                    icon: 'list',
                    onSelect: () => {
                      setFrom(revision.id)
                      setTo('')
                    },
                  },
                ]}
              />
            ),
          }}
        />
      </Card>
      {items.length > 1 && (
        <Compare policy={policy} revisions={items} from={shownFrom} to={shownTo} onFrom={setFrom} onTo={setTo} />
      )}
    </>
  )
}
