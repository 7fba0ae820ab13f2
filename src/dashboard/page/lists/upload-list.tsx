// A whole file into a list: in place of what is there or beside it; all of it or nothing, unless asked otherwise.
import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { UploadedList } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, FormDialog } from '../ui/dialog.tsx'
import { CheckField, Field, RadioField } from '../ui/field.tsx'
import { Notice } from '../ui/problem.tsx'
import { listKey } from './list-key.ts'
import { type ListParts, listParams } from './list-parts.ts'

const TIMEOUT_MS = 600_000

const typeOf = (name: string): string => {
  if (/\.csv$/i.test(name)) return 'text/csv'
  return /\.xml$/i.test(name) ? 'application/xml' : 'text/plain'
}

interface Values {
  readonly file: File | null
  readonly way: 'replace' | 'merge'
  readonly skip: boolean
}

const Outcome = ({ result }: { readonly result: UploadedList }) => (
  <div class="form">
    {result.applied ? (
      <Notice tone="good" title={`The list has ${counted(result.entries, 'address', 'addresses')} now`}>
        <p>The file has {counted(result.read, 'address', 'addresses')}.</p>
      </Notice>
    ) : (
      <Notice tone="bad" title="Nothing was changed" urgent>
        <p>{counted(result.bad_line_count, 'line of the file is', 'lines of the file are')} wrong.</p>
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
)

export const UploadList = ({ onClose, ...parts }: ListParts & { readonly onClose: () => void }) => {
  const [result, setResult] = useState<UploadedList | null>(null)
  const form = useForm<Values>({
    initial: { file: null, way: 'replace', skip: false },
    check: ({ file }) => (file === null ? { file: 'Choose a file.' } : {}),
    submit: async ({ file, way, skip }): Promise<void> => {
      if (file === null) return
      const uploaded = await call(listKey(parts.owner, 'PUT', '/{list}/content'), {
        params: listParams(parts),
        query: { ...(way === 'merge' ? { merge: true } : {}), ...(skip ? { skip_bad: true } : {}) },
        body: file.slice(0, file.size, typeOf(file.name)),
        timeoutMs: TIMEOUT_MS,
      })
      parts.onChange()
      setResult(uploaded)
    },
  })
  if (result !== null) {
    return (
      <Dialog title="What became of the file" onClose={onClose}>
        <Outcome result={result} />
        <div class="form-actions">
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
          {!result.applied && <Button onClick={() => setResult(null)}>Try another</Button>}
        </div>
      </Dialog>
    )
  }
  return (
    <FormDialog title={`Upload into ${parts.list.name}`} form={form} submitLabel="Upload" onClose={onClose}>
      <Field
        label="File"
        hint="One address a line; or .csv of address and memo; or the US Treasury’s sdn_advanced.xml."
        error={form.errors['file']}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept=".txt,.csv,.xml,text/plain,text/csv,application/xml"
            onChange={(event) => form.set('file', event.currentTarget.files?.[0] ?? null)}
          />
        )}
      </Field>
      <RadioField
        legend="What is in the list now"
        name="way"
        value={form.values.way}
        onValue={(value) => form.set('way', value === 'merge' ? 'merge' : 'replace')}
        choices={[
          { value: 'replace', label: 'Is replaced', hint: 'The file becomes the list.' },
          { value: 'merge', label: 'Stays', hint: 'The file is added.' },
        ]}
      />
      <CheckField
        label="Take the good lines where some are bad"
        hint="Otherwise one bad line refuses the whole file."
        checked={form.values.skip}
        onChecked={(checked) => form.set('skip', checked)}
      />
    </FormDialog>
  )
}
