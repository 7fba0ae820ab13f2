import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { dropExport, type ExportRequest, type ExportRun, startExport, useExport } from './export-run.ts'
import { countWord } from './labels.tsx'

const bytesWord = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`

export const ExportMenu = ({ query }: { readonly query: ExportRequest['query'] }) => {
  const { organization } = useWorkplace()
  return (
    <Menu
      face="Export"
      faceClass="button button-secondary"
      side="end"
      items={[
        {
          label: 'As CSV',
          icon: 'download',
          onSelect: () => startExport({ organization, query, format: 'csv' }),
        },
        {
          label: 'As JSON Lines',
          icon: 'download',
          onSelect: () => startExport({ organization, query, format: 'ndjson' }),
        },
      ]}
    />
  )
}

const progressOf = ({ rows, bytes, total, exact }: ExportRun): string => {
  const of = total === 0 ? '' : ` of ${exact ? '' : 'over '}${countWord(total)}`
  return `${countWord(rows)}${of} rows, ${bytesWord(bytes)}`
}

export const ExportProgress = () => {
  const run = useExport()
  if (run === null) return null
  const { state, format, rows, total, exact, url, fileName } = run
  const name = format === 'csv' ? 'CSV' : 'JSON Lines'
  return (
    <Card
      title={state === 'done' ? `Export is ready` : state === 'failed' ? 'Export failed' : `Exporting as ${name}`}
      actions={
        <>
          {url !== null && (
            <ButtonLink kind="primary" small icon="download" href={url} download={fileName}>
              Save file
            </ButtonLink>
          )}
          <Button small onClick={dropExport}>
            {state === 'running' ? 'Cancel' : 'Discard'}
          </Button>
        </>
      }
    >
      {state === 'failed' ? (
        <Problem error={run.error} />
      ) : (
        <div class="export">
          {state === 'running' && (
            <progress
              aria-label="Exported"
              {...(total > 0 && exact ? { max: total, value: Math.min(rows, total) } : {})}
            />
          )}
          <p class="soft" role="status">
            {progressOf(run)}
            {state === 'running' && ' · continues while you view other pages, but stops on reload'}
          </p>
        </div>
      )}
    </Card>
  )
}
