// An uploaded file is applied as a whole or not at all, unless requested otherwise.
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { UploadedList } from '../api/types.ts'
import { type Action, action } from '../ui/actions.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/problem.tsx'
import { type ListParts, listKey, listParams } from './list-key.ts'

const TIMEOUT_MS = 600_000

const typeOf = (name: string): string => {
  if (/\.csv$/i.test(name)) return 'text/csv'
  return /\.xml$/i.test(name) ? 'application/xml' : 'text/plain'
}

interface ResultProps {
  readonly result: UploadedList
  readonly onClose: () => void
  readonly onAgain: () => void
}

const Result = ({ result, onClose, onAgain }: ResultProps) => (
  <Dialog title="Upload result" onClose={onClose}>
    <div class="form">
      {result.applied ? (
        <Notice tone="good" title={`The list has ${counted(result.entries, 'address', 'addresses')}`}>
          <p>The file has {counted(result.read, 'address', 'addresses')}.</p>
        </Notice>
      ) : (
        <Notice tone="bad" title="Nothing was changed" urgent>
          <p>The file has {counted(result.bad_line_count, 'invalid line', 'invalid lines')}.</p>
        </Notice>
      )}
      {result.bad_lines.length > 0 && (
        <ul class="bad-lines">
          {result.bad_lines.map(({ line, problem }) => (
            <li key={line}>
              <strong>Line {line.toLocaleString('en')}:</strong> {problem}
            </li>
          ))}
        </ul>
      )}
    </div>
    <div class="form-actions">
      <Button kind="primary" onClick={onClose}>
        Close
      </Button>
      {!result.applied && <Button onClick={onAgain}>Upload another file</Button>}
    </div>
  </Dialog>
)

export const uploadList = (parts: ListParts): Action =>
  action({
    label: 'Upload file',
    icon: 'upload',
    title: `Upload to ${parts.list.name}`,
    submit: 'Upload',
    fields: {
      file: {
        label: 'File',
        hint: 'One address per line, a .csv of address and memo, or the US Treasury’s sdn_advanced.xml.',
        file: '.txt,.csv,.xml,text/plain,text/csv,application/xml',
      },
      mode: {
        label: 'Existing addresses',
        radio: true,
        choices: {
          replace: ['Replace', 'The file replaces the list.'],
          merge: ['Keep', 'The file’s addresses are added.'],
        },
      },
      skip_bad: {
        label: 'Skip invalid lines',
        hint: 'Otherwise, the whole file is rejected if any line is invalid.',
        check: true,
      },
    },
    run: ({ file, mode, skip_bad }) =>
      call(listKey(parts.owner, 'PUT', '/{list}/content'), {
        params: listParams(parts),
        query: { merge: mode === 'merge' || undefined, skip_bad: skip_bad || undefined },
        body: file.slice(0, file.size, typeOf(file.name)),
        timeoutMs: TIMEOUT_MS,
      }),
    done: (result) => (close, back) => <Result result={result} onClose={close} onAgain={back} />,
  })
