import { call } from '../api/client.ts'
import type { Policy, Revision } from '../api/types.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { SelectField } from '../ui/field.tsx'
import { Card, Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Differences } from './differences.tsx'
import { diffLines, withContext } from './line-diff.ts'

const AROUND = 3
const SIGNS = { same: ' ', removed: '−', added: '+' } as const

const Lines = ({ before, after }: { readonly before: string; readonly after: string }) => {
  const lines = withContext(diffLines(before, after), AROUND)
  if (before === after) return <p class="soft">The documents are identical.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <div class="diff-scroll" tabIndex={0}>
      <table class="diff">
        <caption class="sr-only">Line by line</caption>
        <tbody>
          {lines.map((line, index) =>
            line === null ? (
              <tr key={`gap ${lines[index + 1]?.before ?? 'end'}`} class="diff-gap">
                <td colSpan={3}>…</td>
              </tr>
            ) : (
              <tr key={`${line.before} ${line.after}`} class={`diff-${line.kind}`}>
                <td class="diff-number">{line.before}</td>
                <td class="diff-number">{line.after}</td>
                <td>
                  <span class="diff-sign" aria-hidden="true">
                    {SIGNS[line.kind]}
                  </span>
                  {line.kind !== 'same' && <span class="sr-only">{line.kind}: </span>}
                  {line.text}
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  )
}

interface CompareProps {
  readonly policy: Policy
  readonly revisions: readonly Revision[]
  readonly from: string
  readonly to: string
  readonly onFrom: (id: string) => void
  readonly onTo: (id: string) => void
}

export const Compare = ({ policy, revisions, from, to, onFrom, onTo }: CompareProps) => {
  const { params } = useWorkplace()
  const path = { ...params, policy: policy.id }
  const read = useQuery(
    async (signal) => {
      const source = async (revision: string): Promise<string> =>
        (
          await call('GET /organizations/{organization}/policies/{policy}/revisions/{revision}', {
            params: { ...path, revision },
            signal,
          })
        ).source
      const [before, after, { differences }] = await Promise.all([
        source(from),
        source(to),
        call('GET /organizations/{organization}/policies/{policy}/diff', { params: path, query: { from, to }, signal }),
      ])
      return { before, after, differences }
    },
    [policy.id, from, to],
  )
  const choices = revisions.map(({ id, number, active, shadow }) => ({
    value: id,
    label: `Revision ${number}${active ? ', live' : shadow ? ', shadow' : ''}`,
  }))
  return (
    <Card title="Compare">
      <div class="filters">
        <SelectField label="From" value={from} onValue={onFrom} choices={choices} />
        <SelectField label="To" value={to} onValue={onTo} choices={choices} />
      </div>
      <Problem error={read.error} retry={read.reload} />
      {read.value === null ? (
        read.error === null && <Loading />
      ) : (
        <>
          <h3>Changes</h3>
          <Differences differences={read.value.differences} />
          <h3>Line by line</h3>
          <Lines before={read.value.before} after={read.value.after} />
        </>
      )}
    </Card>
  )
}
