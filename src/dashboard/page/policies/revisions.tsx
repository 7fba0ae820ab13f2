import { useState } from 'preact/hooks'
import type { Policy, Revision } from '../api/types.ts'
import { Copyable } from '../ui/copy.tsx'
import { type MenuItem, RowMenu } from '../ui/menu.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { PagedTable, time } from '../ui/table.tsx'
import { Compare } from './compare.tsx'
import type { PolicyData } from './use-policy.ts'

interface RevisionsProps {
  readonly policy: Policy
  readonly data: PolicyData
  readonly itemsOf: (revision: Revision) => readonly MenuItem[]
  readonly onEdit: (revision: Revision) => void
}

export const Revisions = ({ policy, data, itemsOf, onEdit }: RevisionsProps) => {
  const items = data.revisions.items ?? []
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const newest = items[0]
  // Compares the active revision with the newest revision, or with the previous revision if the newest is active.
  const fallback = items.find(({ id, active }) => active && id !== newest?.id) ?? items[1]
  const shownFrom = from === '' ? (fallback?.id ?? '') : from
  const shownTo = to === '' ? (newest?.id ?? '') : to
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
            Saved: time('created_at'),
            '': (revision) => (
              <RowMenu
                label={`Actions for revision ${revision.number}`}
                items={[
                  ...itemsOf(revision),
                  { label: 'Open in editor', icon: 'code', onSelect: () => onEdit(revision) },
                  {
                    label: 'Compare with newest',
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
