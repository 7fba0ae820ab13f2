import { useEffect } from 'preact/hooks'
import type { AnswerOf } from '../../../dashboard/page/api/client.ts'
import type { Policy } from '../../../dashboard/page/api/types.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { shortId } from '../../../dashboard/page/ui/copy.tsx'
import { Card, Loading } from '../../../dashboard/page/ui/parts.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'
import { OutcomeBadge } from './policy-decisions.tsx'

const REREAD_MS = 2_000

type ShadowResults = AnswerOf<'GET /organizations/{organization}/policies/{policy}/shadow-results'>
export const SessionShadow = ({ policy }: { readonly policy: Policy }) => {
  const { params, path } = useWorkplace()
  const { value, error, reload } = useRead(
    'GET /organizations/{organization}/policies/{policy}/shadow-results',
    { params: { ...params, policy: policy.id }, query: {} },
    policy.shadow_revision_id,
  )
  useEffect(() => {
    const timer = setInterval(reload, REREAD_MS)
    return () => clearInterval(timer)
  }, [reload])
  if (value === null) return error === null ? <Loading /> : <Problem error={error} retry={reload} />
  const otherwise = value.sessions?.otherwise ?? []
  return (
    <>
      <dl class="tiles" aria-label="Shadow results">
        {(
          [
            ['Would be approved', value.sessions?.completed ?? 0],
            ['Would be rejected', value.sessions?.rejected ?? 0],
            ['Left to reviewers', value.sessions?.left ?? 0],
            ['Same as live', value.same],
            ['Different from live', value.different],
            ['Failed', value.failed],
          ] as const
        ).map(([label, count]) => (
          <div key={label} class="tile">
            <dt>{label}</dt>
            <dd>
              <span class="tile-value">
                {count.toLocaleString('en')}
                {value.exact ? '' : '+'}
              </span>
            </dd>
          </div>
        ))}
      </dl>
      {otherwise.length > 0 && (
        <Card flush title="Sessions with a different outcome">
          <Table<NonNullable<ShadowResults['sessions']>['otherwise'][number]>
            caption="Sessions with a different outcome"
            rows={otherwise}
            rowKey={({ session_id: id }) => id}
            columns={{
              Session: ({ session_id: id }) => (
                <a class="mono" href={path(`/reviews/${id}`)}>
                  {shortId(id)}
                </a>
              ),
              Decided: ({ decided }) =>
                decided === null ? <span class="soft">No revision was live</span> : <OutcomeBadge outcome={decided} />,
              'In shadow': ({ shadow }) => <OutcomeBadge outcome={shadow} />,
            }}
          />
        </Card>
      )}
    </>
  )
}
