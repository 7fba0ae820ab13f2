import { useEffect, useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { Task } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { countWord } from './labels.tsx'

const LOOK_AGAIN_MS = 500
const KIND = 'decisions.verify'

type Report = Extract<NonNullable<Task['result']>, { readonly newest_lines: unknown }>
type Finding = Report['warnings'][number] & { readonly line?: number }

const Findings = ({ title, findings }: { readonly title: string; readonly findings: readonly Finding[] }) =>
  findings.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul class="log-findings">
        {findings.map(({ slot, segment, line, detail }) => (
          <li key={`${slot} ${segment} ${line} ${detail}`}>
            <code>
              decisions/{slot}/{segment}
            </code>
            {line !== undefined && <span class="soft"> line {line}</span>}
            <br />
            {detail}
          </li>
        ))}
      </ul>
    </>
  )

const TreeLines = ({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) =>
  lines.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul class="log-findings">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  )

const treeWords = ({ size, compared, newer, elsewhere }: NonNullable<Report['tree']>): string => {
  const parts = [
    `${counted(compared, 'line was', 'lines were')} compared with the tree, of ${countWord(size)} covered by the signed head`,
  ]
  if (elsewhere > 0)
    parts.push(counted(elsewhere, 'line is in another node’s files', 'lines are in other nodes’ files'))
  if (newer > 0) parts.push(counted(newer, 'line is newer than the head', 'lines are newer than the head'))
  return `${parts.join(', ')}.`
}

const isOver = ({ state }: Task): boolean => state !== 'queued' && state !== 'running'

const ReportOf = ({ report }: { readonly report: Report }) => (
  <>
    <Notice tone={report.ok ? 'good' : 'bad'} title={report.ok ? 'The log is intact' : 'The log was changed'}>
      <p>
        {counted(report.decisions, 'decision', 'decisions')} in {counted(report.segments, 'file', 'files')}: hashes,
        lines, links between files and UUIDs were checked. {report.tree && treeWords(report.tree)}
      </p>
    </Notice>
    <Findings title="Problems" findings={report.problems} />
    <TreeLines title="Differences from the tree and its heads" lines={report.tree?.problems ?? []} />
    <Findings title="Notes" findings={report.warnings} />
    <TreeLines title="Notes on the tree" lines={report.tree?.warnings ?? []} />
    <details class="proof">
      <summary>Hashes of the newest lines</summary>
      <p class="soft">Store these elsewhere to detect later whether the end of the log was truncated.</p>
      <Facts
        items={Object.entries(report.newest_lines).map(([slot, hash]) => [
          slot,
          <Copyable key={slot} text={hash} label={`hash of ${slot}`} />,
        ])}
      />
    </details>
  </>
)

export const VerifyLog = () => {
  const [task, setTask] = useState<Task | null>(null)
  const newest = useQuery(async (signal) => {
    const { data } = await call('GET /jobs', { query: { limit: 50 }, signal })
    return data.find(({ kind }) => kind === KIND) ?? null
  }, [])
  const shown = task ?? newest.value
  const start = useAction(async () => setTask(await call('POST /decision-log/verify')))
  const cancel = useAction(async () => {
    if (shown !== null) setTask(await call('POST /jobs/{job}/cancel', { params: { job: shown.id } }))
  })
  useEffect(() => {
    if (shown === null || isOver(shown)) return
    const controller = new AbortController()
    const { signal } = controller
    const timer = setTimeout(() => {
      // This state change triggers the next read.
      call('GET /jobs/{job}', { params: { job: shown.id }, signal }).then(setTask, () => {
        if (!signal.aborted) setTask({ ...shown })
      })
    }, LOOK_AGAIN_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [shown])
  const runs = shown !== null && !isOver(shown)
  return (
    <Card
      title="Verify the log"
      text="Reads every file of the log in a separate process at the lowest priority. Signing does not wait for it."
      actions={
        runs ? (
          <Button busy={cancel.busy} onClick={cancel.run}>
            Cancel
          </Button>
        ) : (
          <Button kind="primary" icon="check" busy={start.busy} onClick={start.run}>
            Verify log
          </Button>
        )
      }
    >
      <Problem error={start.failure ?? cancel.failure ?? newest.error} />
      {runs && (
        <div class="export">
          <progress
            aria-label="Verified"
            {...(shown.progress.total > 0 ? { max: shown.progress.total, value: shown.progress.done } : {})}
          />
          <p class="soft" role="status">
            {shown.state === 'queued'
              ? 'Queued'
              : shown.progress.total === 0
                ? 'Starting'
                : `${Math.floor((100 * shown.progress.done) / shown.progress.total)} % of ${countWord(shown.progress.total)} bytes`}
          </p>
        </div>
      )}
      {shown !== null && !runs && (
        <>
          <p class="soft">
            Last verified <Time at={shown.finished_at ?? shown.created_at} />
            {shown.state === 'cancelled' && ', and canceled before it finished'}
          </p>
          {shown.state === 'failed' && (
            <Notice tone="bad" title="The log could not be verified">
              <p>{shown.failure}</p>
            </Notice>
          )}
          {shown.result !== null && 'newest_lines' in shown.result && <ReportOf report={shown.result} />}
        </>
      )}
      {shown === null && newest.value === null && !newest.loading && (
        <p class="soft">
          Not verified yet. You can also run <code>countersign decisions verify</code> on the server.
        </p>
      )}
    </Card>
  )
}
